import RecordModel

extension ModifyRequest {
    /// The longest `operationID`, in bytes.
    package static let maximumOperationIDBytes = 128

    /// Reads the body of records/modify. An error in one operation is that item's error.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        let operations = try json.elements("operations", maximum: limits.maximumItems)
        self.init(items: [], zone: try json.zoneID())
        atomic = try json["atomic"]?.bool()
        projection = try RecordProjection(json)
        operationID = try json.string(
            "operationID", maximumBytes: Self.maximumOperationIDBytes)
        wantsSyncToken = try json.wantsSyncToken()
        opensNumbers = try json.bool("opensNumbers", default: false)
        knownToken = try json.string("knownSyncToken", maximumBytes: 1_024)
        knownDatabaseToken = try json.string("knownDatabaseSyncToken", maximumBytes: 1_024)
        clientID = try json.string("clientId", maximumBytes: 256)
        items = operations.map { Item($0, limits) }
    }
}

extension ModifyRequest.Item {
    fileprivate init(_ json: JSONReader, _ limits: RequestLimits) {
        do throws(ServerError) {
            self = .operation(try RecordOperation(json, limits: limits))
        } catch {
            self = .malformed(recordName: Self.nameForError(json), error)
        }
    }

    /// Returns the name by which the client knows the item, when it has one that can be echoed.
    private static func nameForError(_ json: JSONReader) -> RecordName? {
        guard let bytes = json["record"]?["recordName"]?.value.string?.utf8,
            PlainName.isValid(bytes)
        else { return nil }
        return RecordName(bytes: bytes)
    }
}

extension RecordOperation {
    /// Reads one operation of records/modify.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        let type: RecordOperationType = try json.required("operationType").choice()
        let place = try json.required("record")
        let record = try RecordDictionary(place, limits: limits)
        self.init(type: type, record: record)
        try checkKeys(place, limits)
    }

    private func checkKeys(_ json: JSONReader, _ limits: RequestLimits) throws(ServerError) {
        switch type {
        case .create, .forceUpdate, .forceReplace:
            guard let recordType = record.type else { throw json.error("lacks recordType.") }
            if type != .create, record.name == nil { throw json.error("lacks recordName.") }
            guard record.name?.isFreeForClients ?? true || recordType == .users else {
                throw json.error("has a recordName that begins with _: those are the server's.")
            }
        case .update, .replace:
            guard record.name != nil else { throw json.error("lacks recordName.") }
            guard record.changeTag != nil || !limits.isStrict else {
                throw json.error(
                    "lacks recordChangeTag; send the one that was fetched, or use "
                        + (type == .update ? "forceUpdate." : "forceReplace."))
            }
        case .delete:
            guard record.name != nil else { throw json.error("lacks recordName.") }
            guard record.changeTag != nil || !limits.isStrict else {
                throw json.error("lacks recordChangeTag; send it, or use forceDelete.")
            }
        case .forceDelete:
            guard record.name != nil else { throw json.error("lacks recordName.") }
        }
    }
}

extension RecordProjection {
    /// The number of names that one `desiredKeys` may list.
    static let maximumKeys = 1_000

    /// Reads the keys of a request that select the parts of records. A key that is absent is taken
    /// from `defaults`.
    package init(
        _ json: JSONReader, defaults: RecordProjection = .everything
    ) throws(ServerError) {
        let asStrings = try json.either("numbersAsStrings", "numberAsStrings")
        self.init(
            desiredKeys: try json.desiredKeys("desiredKeys") ?? defaults.desiredKeys,
            numbersAsStrings: try asStrings?.bool() ?? defaults.numbersAsStrings)
        wantsAssetDetails = try json.bool(
            "wantsAssetDetails", default: defaults.wantsAssetDetails)
        wantsFileText = try json.bool("wantsFileText", default: defaults.wantsFileText)
        wantsGestures = try json.bool("wantsGestures", default: defaults.wantsGestures)
        isBrief = try json.bool("brief", default: defaults.isBrief)
        wantsSplices = try json.bool("wantsSplices", default: defaults.wantsSplices)
    }
}

extension JSONReader {
    /// Returns the names of a projection, in the order of the request. Duplicates stay. A name that
    /// no field can have selects nothing and is no error.
    func desiredKeys(_ key: String) throws(ServerError) -> [FieldName]? {
        guard let list = self[key] else { return nil }
        var names: [FieldName] = []
        for name in try list.array(maximum: RecordProjection.maximumKeys) {
            names.append(FieldName(bytes: try name.string().utf8))
        }
        return names
    }

    /// Returns whether the request asks for the sync token with `getCurrentSyncToken`, which
    /// clients also send in the query string.
    func wantsSyncToken() throws(ServerError) -> Bool {
        try bool("getCurrentSyncToken", default: false)
    }

    /// Returns `resultsLimit`: at least 1, and at most `most`. Returns `absent` when there is none.
    func resultsLimit(absent: Int, most: Int) throws(ServerError) -> Int {
        guard let json = self["resultsLimit"] else { return absent }
        let limit = try json.int64()
        guard limit >= 1 else { throw json.error("takes a whole number of at least 1.") }
        return Int(min(limit, Int64(most)))
    }
}
