package import RecordModel

extension LookupRequest {
    /// The body of records/lookup.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        let records = try json.elements("records", maximum: limits.maximumItems)
        self.init(items: [], zone: try json.zoneID())
        projection = try RecordProjection(json)
        wantsSyncToken = try json.wantsSyncToken()
        for record in records {
            items.append(
                Item(
                    name: try RecordName(try record.required("recordName")),
                    desiredKeys: try record.desiredKeys("desiredKeys")))
        }
    }
}

extension QueryRequest {
    /// The longest continuation marker, in bytes.
    static let maximumMarkerBytes = 8_192

    /// The body of records/query.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        self.init(
            query: try WireQuery(try json.required("query"), limits: limits),
            resultsLimit: try json.resultsLimit(
                absent: limits.maximumResults, most: limits.maximumResults))
        zone = try json["zoneID"].map(ZoneIdentifier.init(_:))
        zoneWide = try json.bool("zoneWide", default: false)
        continuationMarker = try json.string(
            "continuationMarker", maximumBytes: Self.maximumMarkerBytes)
        projection = try RecordProjection(json)
        wantsSyncToken = try json.wantsSyncToken()
    }
}

extension ZoneChangesRequest {
    /// The body of changes/zone: keys at the top hold for the zones that do not say otherwise.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [ZoneChangesRequest] {
        _ = try json.object()
        let zones = try json.elements("zones", maximum: limits.maximumItems)
        var defaults = ZoneChangesRequest(
            zone: .defaultZone, resultsLimit: limits.maximumResults)
        try defaults.readOptions(json, limits)
        var requests: [ZoneChangesRequest] = []
        for zone in zones {
            var request = defaults
            request.zone = try ZoneIdentifier(try zone.required("zoneID"))
            try request.readOptions(zone, limits)
            request.syncToken = try zone.syncToken("syncToken")
            requests.append(request)
        }
        return requests
    }

    /// The body of records/changes, which is for one zone.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        self.init(
            zone: try ZoneIdentifier(try json.required("zoneID")),
            resultsLimit: limits.maximumResults)
        try readOptions(json, limits)
        syncToken = try json.syncToken("syncToken")
    }

    /// Members that are absent leave what is there.
    private mutating func readOptions(
        _ json: JSONReader, _ limits: RequestLimits
    ) throws(ServerError) {
        projection = try RecordProjection(json, defaults: projection)
        reverse = try json.bool("reverse", default: reverse)
        resultsLimit = try json.resultsLimit(
            absent: resultsLimit, most: limits.maximumFeedResults)
        guard let types = json["desiredRecordTypes"] else { return }
        var names: [RecordTypeName] = []
        for type in try types.array(maximum: RecordProjection.maximumKeys) {
            names.append(try RecordTypeName(type))
        }
        desiredRecordTypes = names
    }
}

extension DatabaseChangesRequest {
    /// The body of changes/database, and of zones/changes, where the token is `metaSyncToken`.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        let token = try json.either("metaSyncToken", "syncToken")
        self.init(
            syncToken: try token?.syncToken(),
            resultsLimit: try json.resultsLimit(
                absent: limits.maximumResults, most: limits.maximumFeedResults))
    }
}

extension JSONReader {
    /// The longest sync token, in bytes: that of a database names every zone.
    private static let maximumTokenBytes = 65_536

    fileprivate func syncToken() throws(ServerError) -> Text {
        try string(maximumBytes: Self.maximumTokenBytes)
    }

    fileprivate func syncToken(_ key: String) throws(ServerError) -> Text? {
        try self[key]?.syncToken()
    }
}

extension ZoneOperation {
    /// The operations of zones/modify, in order.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [ZoneOperation] {
        var operations: [ZoneOperation] = []
        for operation in try json.elements("operations", maximum: limits.maximumItems) {
            operations.append(try ZoneOperation(operation))
        }
        return operations
    }

    private init(_ json: JSONReader) throws(ServerError) {
        let type: ZoneOperationType = try json.required("operationType").choice()
        let place = try json.required("zone").required("zoneID")
        _ = try place.required("zoneName")
        let zone = try ZoneIdentifier(place)
        self.init(
            type: type, zone: zone, onlyEmpty: try json.bool("onlyEmpty", default: false))
        guard
            type == .delete || zone.zone.isFreeForClients
                || zone.zone == ZoneIdentifier.defaultZone.zone
        else {
            throw place.error("has a zoneName that begins with _: those are the server's.")
        }
    }
}

extension ZoneName {
    /// Whether a client may give it to a new zone: names that begin with `_` are the server's.
    package var isFreeForClients: Bool { bytes.first != UInt8(ascii: "_") }
}

extension ZoneIdentifier {
    /// The zones of zones/lookup.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [ZoneIdentifier] {
        var zones: [ZoneIdentifier] = []
        for zone in try json.elements("zones", maximum: limits.maximumItems) {
            // Apple's page has bare zoneID dictionaries, its clients send them wrapped, too.
            zones.append(try ZoneIdentifier(zone["zoneID"] ?? zone))
        }
        return zones
    }
}
