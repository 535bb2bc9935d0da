import RecordModel
import RecordWire

/// Something that a caller asks to do, with everything that the decision depends on.
enum PermissionQuestion: Sendable {
    /// The call of an operation in a database, before its body is read.
    case call(Endpoint, DatabaseScope, by: Caller)
    /// An action on the records of a zone.
    case records(RecordAction, ZoneRights)
    /// A change of a share by one of its people.
    case share(ShareChange, by: ShareEditor)
}

/// An action on the records of a zone.
enum RecordAction: Hashable, Sendable {
    /// A search for all records of a type.
    case search(RecordTypeName)
    /// The creation of a record whose place is not known yet.
    case createSomewhere
    case create(RecordTypeName)
    /// The change of a member of a share, or of a record that becomes one. Nil stands for no share.
    case place(in: RecordName?)
    case change(RecordFacts)
    case delete(RecordFacts)
    /// Bytes for a field of the record, or of a new record of the type when the caller sees none.
    case upload(to: RecordFacts?, RecordTypeName)
    /// A parent for the root of a share, at this path of the request.
    case giveRootParent(path: String)
    /// A new share.
    case share
}

/// A change of a share.
enum ShareChange: Hashable, Sendable {
    /// The fields of its record, such as the title.
    case fields
    case publicPermission
    case participants(ParticipantEdit.Change)
    /// The requests for access, the blocked people, the one-time links.
    case access
}

/// The facts of a record that rights depend on.
struct RecordFacts: Hashable, Sendable {
    let type: RecordTypeName
    /// The share that the record is a member of.
    let share: RecordName?
    let creator: UserName

    init(type: RecordTypeName, share: RecordName?, creator: UserName) {
        self.type = type
        self.share = share
        self.creator = creator
    }

    init(_ record: StoredRecord) {
        self.init(type: record.type, share: record.share, creator: record.created.user)
    }
}
