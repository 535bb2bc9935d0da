package import RecordModel

/// A change that the server reports, as the engine hands it over.
package struct RemoteChange: Sendable {
    package enum Operation: Sendable {
        /// The whole record as the server has it now.
        case upsert([RecordField], parent: RecordName?)
        case delete
    }

    /// What the server has of the file that the record was written as.
    package enum FileText: Hashable, Sendable {
        /// It keeps none.
        case unknown
        /// It was written by something that knows the values alone: every machine prints the same.
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
    /// When fields were given their values.
    package var stamps: [FieldName: FieldStamp] = [:]
    /// Of a deletion: where the record is now, as far as the server tells.
    package var movedTo: RecordAddress?
    /// Stands for the stamps of the other fields; nil: any edit is later than they are.
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
    /// A record that is gone there.
    ///
    /// - Parameter changeTag: that of its deletion, where a later record of the name may be known here.
    package init(
        deleted name: RecordName, movedTo address: RecordAddress? = nil, changeTag: String = ""
    ) {
        self.init(
            type: RecordTypeName(bytes: []), name: name, operation: .delete,
            changeTag: changeTag)
        movedTo = address
    }

    /// True for a deletion of which only those records may be gone that are older than it.
    var isOfEarlierRecord: Bool {
        if case .delete = operation { !changeTag.isEmpty } else { false }
    }
}

/// A record that the server has and that cannot be shown here.
package struct PassedOver: Hashable, Sendable {
    /// Nil for one that has none.
    package let name: RecordName?
    package let reason: String

    package init(_ name: RecordName?, _ reason: String) {
        self.name = name
        self.reason = reason
    }
}

/// A page of a zone's feed.
package struct RemotePage: Sendable {
    package var zone: ZoneID
    package var changes: [RemoteChange]
    /// The token that continues the feed behind this page; nil for changes that no feed has told of.
    package var token: [UInt8]?
    /// They are not gone.
    package var passedOver: [PassedOver] = []
    package var shares: [Share] = []
    /// True when it has something that cannot even be named: then it says nothing of what is gone.
    package var hasNameless: Bool { passedOver.contains { $0.name == nil } }
    /// Nothing comes behind it for now.
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

/// What the server tells of step by step.
package enum Feed: Hashable, Sendable {
    /// Which zones of a database have news.
    case database(Database)
    /// The records of a zone.
    case zone(ZoneID)
}

/// What a remote change did here.
package struct RemoteResult: Sendable {
    package enum Outcome: Hashable, Sendable {
        case created, updated, unchanged, deleted
        /// A deletion that lost against a local edit: the record stays, and is sent again.
        case kept
        /// A deletion of a record that is not here.
        case absent
    }

    package let outcome: Outcome
    package let id: RecordID?
    /// Fields changed on both sides in two ways: the later value stands, the other one is kept with
    /// the conflict.
    package let conflicts: [FieldName]
}
