package import RecordModel

extension ZoneAnswer {
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(
            try ZoneIdentifier(try json.required("zoneID")),
            syncToken: try json.string("syncToken"), isAtomic: try json["atomic"]?.bool(),
            isDeleted: try json.bool("deleted", default: false),
            deletionReason: try json.string("deletionReason")?.string,
            ownerIdentity: json["ownerIdentity"]?.value)
    }
}

/// One zone of an answer.
package enum ZoneItem: Hashable, Sendable {
    case zone(ZoneAnswer)
    case failed(ZoneIdentifier?, WireError)

    package init(_ json: JSONReader) throws(ServerError) {
        if let error = try WireError(json) {
            self = .failed(try json["zoneID"].map(ZoneIdentifier.init(_:)), error)
        } else {
            self = .zone(try ZoneAnswer(json))
        }
    }

    /// Returns the zones of zones/list, zones/lookup and zones/modify.
    package static func list(_ json: JSONReader) throws(ServerError) -> [ZoneItem] {
        try json.required("zones").array().map(ZoneItem.init(_:))
    }
}

/// The answer to changes/database, and to the older zones/changes.
package struct DatabaseChangesAnswer: Hashable, Sendable {
    package let zones: [ZoneItem]
    package let syncToken: Text
    package let moreComing: Bool
    /// The quotas, in the last page and for clients that ask. They are empty when a server does not
    /// send them.
    package let quotas: [QuotaAnswer]
    /// The invitations, under the same conditions.
    package let invitations: [InvitationAnswer]

    package init(_ json: JSONReader) throws(ServerError) {
        zones = try ZoneItem.list(json)
        let token = try json.either("syncToken", "metaSyncToken")
        guard let token else { throw json.error("lacks syncToken.") }
        syncToken = try token.string()
        moreComing = try json.bool("moreComing", default: false)
        quotas = try json["quotas"]?.array().map(QuotaAnswer.init(_:)) ?? []
        invitations = try json["invitations"]?.array().map(InvitationAnswer.init(_:)) ?? []
    }
}

/// One page of the feed of a zone.
package struct ZonePage: Hashable, Sendable {
    package let zone: ZoneIdentifier
    package let items: [RecordItem]
    package let syncToken: Text
    package let moreComing: Bool
    /// The number of entries that were left, including those of this page, for clients that asked.
    package let total: Int?

    package init(_ json: JSONReader) throws(ServerError) {
        zone = try ZoneIdentifier(try json.required("zoneID"))
        items = try json.required("records").array().map { RecordItem($0) }
        syncToken = try json.required("syncToken").string()
        moreComing = try json.bool("moreComing", default: false)
        total = try json["total"].map { (json) throws(ServerError) in
            Int(clamping: try json.int64())
        }
    }
}

/// One zone of the answer to changes/zone.
package enum ZonePageItem: Hashable, Sendable {
    case page(ZonePage)
    case failed(ZoneIdentifier?, WireError)

    package init(_ json: JSONReader) throws(ServerError) {
        if let error = try WireError(json) {
            self = .failed(try json["zoneID"].map(ZoneIdentifier.init(_:)), error)
        } else {
            self = .page(try ZonePage(json))
        }
    }

    package static func list(_ json: JSONReader) throws(ServerError) -> [ZonePageItem] {
        try json.required("zones").array().map(ZonePageItem.init(_:))
    }
}

/// The answer to changes/zone.
package struct ZoneChangesAnswer: Hashable, Sendable {
    package let items: [ZonePageItem]
    /// For clients that asked (an extension): every change since the server was last restored from
    /// a backup has the tag of this position or of a later one.
    package let restorePoint: Text?
    /// For clients that asked (an extension): the place in the feed of the database after these
    /// changes.
    package let databaseToken: Text?
    /// The known database token that the request had. The code that made the request sets it.
    package var knownDatabaseToken: Text?

    private init(_ item: ZonePageItem, restorePoint: Text?) {
        items = [item]
        self.restorePoint = restorePoint
        databaseToken = nil
    }

    /// One answer for each of its zones.
    package var split: [ZoneChangesAnswer] {
        items.map { ZoneChangesAnswer($0, restorePoint: restorePoint) }
    }

    package init(_ json: JSONReader) throws(ServerError) {
        items = try ZonePageItem.list(json)
        databaseToken = try json.string("databaseSyncToken")
        restorePoint = try json.string("restorePoint")
    }
}
