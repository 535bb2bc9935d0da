package import RecordModel

extension LookupRequest {
    /// Reads the body of records/lookup.
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

extension HistoryRequest {
    /// Reads the body of records/history.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        self.init(
            zone: try json.zoneID(), name: try json["recordName"].map(RecordName.init(_:)),
            resultsLimit: try json.resultsLimit(
                absent: limits.maximumResults, most: limits.maximumResults))
        guard let marker = try json.string("continuationMarker", maximumBytes: 64) else { return }
        before = Int64(marker.string, radix: 36)
        guard before != nil else {
            throw ServerError(
                .badRequest, "continuationMarker is none of an answer of this server.")
        }
    }
}

extension QueryRequest {
    /// The longest continuation marker, in bytes.
    static let maximumMarkerBytes = 8_192

    /// Reads the body of records/query.
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
    /// Reads the body of changes/zone. Keys at the top apply to the zones that do not have their
    /// own.
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

    /// Reads the body of records/changes, which is for one zone.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        self.init(
            zone: try ZoneIdentifier(try json.required("zoneID")),
            resultsLimit: limits.maximumResults)
        try readOptions(json, limits)
        syncToken = try json.syncToken("syncToken")
    }

    /// Reads the options. Absent members leave the present values.
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
    /// Reads the body of changes/database, and of zones/changes, where the token is
    /// `metaSyncToken`.
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
    /// The longest sync token, in bytes. The token of a database names every zone.
    private static let maximumTokenBytes = 65_536

    fileprivate func syncToken() throws(ServerError) -> Text {
        try string(maximumBytes: Self.maximumTokenBytes)
    }

    fileprivate func syncToken(_ key: String) throws(ServerError) -> Text? {
        try self[key]?.syncToken()
    }
}

extension ZoneOperation {
    /// Returns the operations of zones/modify, in order.
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
    /// Indicates whether a client may give the name to a new zone. Names that begin with `_` belong
    /// to the server.
    package var isFreeForClients: Bool { bytes.first != UInt8(ascii: "_") }
}

extension ZoneIdentifier {
    /// Returns the zones of zones/lookup.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [ZoneIdentifier] {
        var zones: [ZoneIdentifier] = []
        for zone in try json.elements("zones", maximum: limits.maximumItems) {
            // Apple's page has bare zoneID dictionaries. Its clients send them wrapped, too.
            zones.append(try ZoneIdentifier(zone["zoneID"] ?? zone))
        }
        return zones
    }
}
