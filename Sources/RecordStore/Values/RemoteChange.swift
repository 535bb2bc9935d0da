package import RecordModel

/// A change that the server reports, as the engine passes it to the store.
package struct RemoteChange: Sendable {
    package enum Operation: Sendable {
        /// The whole record in its present state on the server.
        case upsert([RecordField], parent: RecordName?)
        case delete
    }

    /// The file text that the server has for a record.
    package enum FileText: Hashable, Sendable {
        /// The server keeps no text.
        case unknown
        /// The record was written by a program that knows only the values. Every machine prints the
        /// same text.
        case none
        case text([UInt8])
    }

    package var type: RecordTypeName
    package var name: RecordName
    package var operation: Operation
    package var fileText = FileText.unknown
    package var changeTag: String
    package var created: Timestamp?
    package var createdBy: String
    package var modified: Timestamp?
    package var modifiedBy: String
    /// The origin of the change, as the machine that made it tells it.
    package var origin: GestureOrigin?
    /// The times at which fields got their values.
    package var stamps: [FieldName: FieldStamp] = [:]
    /// The place of the record now, as far as the server reports it. For a deletion.
    package var movedTo: RecordAddress?
    /// The stamp of the fields without one. If nil, any edit is later than these fields.
    package var unstamped: FieldStamp?

    package init(
        type: RecordTypeName, name: RecordName, operation: Operation,
        changeTag: String = "", created: Timestamp? = nil, createdBy: String = "",
        modified: Timestamp? = nil, modifiedBy: String = ""
    ) {
        self.type = type
        self.name = name
        self.operation = operation
        self.changeTag = changeTag
        self.created = created
        self.createdBy = createdBy
        self.modified = modified
        self.modifiedBy = modifiedBy
    }
}

extension RemoteChange {
    /// Makes the deletion of a record on the server.
    ///
    /// - Parameter changeTag: the change tag of the deletion, if a later record with the name may
    ///   be known here.
    package init(
        deleted name: RecordName, movedTo address: RecordAddress? = nil, changeTag: String = ""
    ) {
        self.init(
            type: RecordTypeName(bytes: []), name: name, operation: .delete,
            changeTag: changeTag)
        movedTo = address
    }

    /// True for a deletion that removes only records that are older than itself.
    package var isOfEarlierRecord: Bool {
        if case .delete = operation { !changeTag.isEmpty } else { false }
    }
}

/// A record that the server has and that cannot be shown here.
package struct PassedOver: Hashable, Sendable {
    /// The name of the record. Nil for one without a name.
    package let name: RecordName?
    package let reason: String
    /// The type of the record on the server, as far as it is known.
    package let type: RecordTypeName?

    package init(_ name: RecordName?, _ reason: String, type: RecordTypeName? = nil) {
        self.name = name
        self.reason = reason
        self.type = type
    }
}

/// A page of a zone's feed.
package struct RemotePage: Sendable {
    package var zone: ZoneID
    package var changes: [RemoteChange]
    /// The token that continues the feed after this page. Nil for changes that no feed has
    /// reported.
    package var token: [UInt8]?
    /// The records of the page that cannot be shown here. They are not deleted.
    package var passedOver: [PassedOver] = []
    package var shares: [Share] = []
    /// True when the page contains something without a name. Then the page does not show which
    /// records were deleted.
    package var hasNameless: Bool { passedOver.contains { $0.name == nil } }
    /// Indicates whether no page follows for now.
    package var isLast: Bool

    package init(
        zone: ZoneID, changes: [RemoteChange], token: [UInt8]? = nil, isLast: Bool = false
    ) {
        self.zone = zone
        self.changes = changes
        self.token = token
        self.isLast = isLast
    }
}

/// A feed of changes that the server reports page by page.
package enum Feed: Hashable, Sendable {
    /// The zones of a database that have news.
    case database(Database)
    /// The records of a zone.
    case zone(ZoneID)
}
