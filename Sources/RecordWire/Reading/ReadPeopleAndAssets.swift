package import RecordModel

extension ShortGUIDRequest {
    /// The longest short GUID, in bytes.
    static let maximumBytes = 128

    /// Reads the body of records/resolve and records/accept.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [ShortGUIDRequest] {
        var requests: [ShortGUIDRequest] = []
        for item in try json.elements("shortGUIDs", maximum: limits.maximumItems) {
            var request = ShortGUIDRequest(
                value: try item.required("value").string(maximumBytes: maximumBytes),
                shouldFetchRootRecord: try item.bool("shouldFetchRootRecord", default: false))
            request.rootRecordDesiredKeys = try item.desiredKeys("rootRecordDesiredKeys")
            requests.append(request)
        }
        return requests
    }
}

extension UserLookup {
    /// Reads the `lookupInfos` of users/discover: one key each.
    package static func discoverList(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [UserLookup] {
        try list(json, key: "lookupInfos", limits)
    }

    /// Reads the `users` of the older users/lookup endpoints.
    package static func legacyList(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [UserLookup] {
        try list(json, key: "users", limits)
    }

    private static func list(
        _ json: JSONReader, key: String, _ limits: RequestLimits
    ) throws(ServerError) -> [UserLookup] {
        var lookups: [UserLookup] = []
        for item in try json.elements(key, maximum: limits.maximumItems) {
            let lookup = try UserLookup(item)
            guard !lookup.isEmpty else {
                throw item.error("lacks emailAddress, phoneNumber or userRecordName.")
            }
            lookups.append(lookup)
        }
        return lookups
    }
}

/// The body of assets/upload.
package struct AssetUploadBody: Hashable, Sendable {
    package var zone: ZoneIdentifier
    package var tokens: [AssetUploadRequest]

    package init(zone: ZoneIdentifier, tokens: [AssetUploadRequest]) {
        self.zone = zone
        self.tokens = tokens
    }

    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        let list = try json.elements("tokens", maximum: limits.maximumItems)
        zone = try json.zoneID()
        tokens = []
        for token in list {
            tokens.append(
                AssetUploadRequest(
                    recordName: try token["recordName"].map(RecordName.init(_:)),
                    recordType: try RecordTypeName(try token.required("recordType")),
                    fieldName: try FieldName(try token.required("fieldName"))))
        }
    }
}

/// The body of assets/rereference.
package struct RereferenceBody: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var recordName: RecordName
        package var fieldName: FieldName
        /// An extension: the checksum of the wanted asset. The server finds bytes that a record has
        /// lost by this checksum alone.
        package var fileChecksum: Text?

        package init(
            recordName: RecordName, fieldName: FieldName, fileChecksum: Text? = nil
        ) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.fileChecksum = fileChecksum
        }

        package init(_ json: JSONReader) throws(ServerError) {
            recordName = try RecordName(try json.required("recordName"))
            fieldName = try FieldName(try json.required("fieldName"))
            fileChecksum = try json.string(
                "fileChecksum", maximumBytes: Self.longestChecksum)
        }

        /// A limit above the length of every checksum, in bytes.
        private static let longestChecksum = 128
    }
    package var zone: ZoneIdentifier
    package var assets: [Item]

    package init(zone: ZoneIdentifier, assets: [Item]) {
        self.zone = zone
        self.assets = assets
    }

    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        let list = try json.elements("assets", maximum: limits.maximumItems)
        zone = try json.zoneID()
        assets = []
        for asset in list { assets.append(try Item(asset)) }
    }
}

/// The body of tokens/create and tokens/register.
package struct PushTokenBody: Hashable, Sendable {
    package var apnsEnvironment: ServerEnvironment
    /// The token. It is nil in tokens/create.
    package var apnsToken: Text?
    package var clientID: Text?

    package init(apnsEnvironment: ServerEnvironment) { self.apnsEnvironment = apnsEnvironment }

    package init(_ json: JSONReader) throws(ServerError) {
        apnsEnvironment = try json.required("apnsEnvironment").choice()
        apnsToken = try json.string("apnsToken", maximumBytes: 1_024)
        clientID = try json.either("clientId", "clientID")?.string(maximumBytes: 256)
    }
}
