package import RecordModel

/// The record dictionary of a request (CloudKit Web Services Reference, Types and Dictionaries).
/// Keys that only answers have, such as `created`, `modified` and `share`, are ignored: a client
/// cannot set them.
package struct RecordDictionary: Hashable, Sendable {
    /// The parent in a request: not mentioned, none, or a record.
    package enum Parent: Hashable, Sendable {
        case unchanged
        case cleared
        case record(RecordName)
    }

    package var name: RecordName?
    /// The record type. It is `cloudkit.share` in lower case, whatever the spelling of the request.
    package var type: RecordTypeName?
    package var changeTag: Text?
    package var fields: [WireField]
    package var parent: Parent
    package var createShortGUID: Bool
    /// An extension: the file of the record as the client has written it. A save without it removes
    /// it.
    package var fileText: Text?
    /// The file text, written as a change of the text that the record has.
    package var fileTextSplice: TextSplice?
    /// An extension: the origin of the change as the client tells it (`GestureOrigin`), not
    /// interpreted. A save without it removes it.
    package var gesture: Text?
    package var share: ShareDictionary?
    /// An extension, for a deletion: the place to which the record was moved.
    package var movedTo: RecordAddress?

    package init(name: RecordName? = nil, type: RecordTypeName? = nil) {
        self.name = name
        self.type = type
        fields = []
        parent = .unchanged
        createShortGUID = false
    }
}

extension RecordTypeName {
    /// The type of the records that describe shares (Protocol, "Sharing").
    package static let share = RecordTypeName("cloudkit.share")
    /// The system type with one record for each user, in the public database.
    package static let users = RecordTypeName("Users")
}

extension RecordName {
    /// The name of a share of a whole zone.
    package static let zoneShare = RecordName("cloudkit.zoneshare")
}

/// The keys of a record dictionary that only `cloudkit.share` has.
package struct ShareDictionary: Hashable, Sendable {
    /// `forRecord`. It is nil for a share of the whole zone.
    package var root: RecordName?
    package var rootChangeTag: Text?
    /// The public permission. It is nil when the request does not mention it.
    package var publicPermission: SharePermission?
    /// The participants. They are nil when the request does not mention them.
    package var participants: [ParticipantDictionary]?
    /// The rule for access requests. It is nil when the request does not mention it.
    package var deniesAccessRequests: Bool?
    /// The people who ask for access and are not denied it. They are nil when the request does not
    /// mention them.
    package var requesters: [UserLookup]?
    /// The people for whom the share is blocked. They are nil when the request does not mention
    /// them.
    package var blocked: [UserLookup]?
    /// The participants with a one-time link. They are nil when the request does not mention them.
    package var oneTimeLinks: [Text]?

    package init() {}
}

package enum SharePermission: String, CaseIterable, Sendable {
    case none = "NONE"
    case readOnly = "READ_ONLY"
    case readWrite = "READ_WRITE"
    /// Counts as `none`.
    case unknown = "UNKNOWN"
}

package enum ParticipantType: String, CaseIterable, Sendable {
    case owner = "OWNER"
    case administrator = "ADMINISTRATOR"
    case user = "USER"
    case publicUser = "PUBLIC_USER"
    case unknown = "UNKNOWN"
}

package enum AcceptanceStatus: String, CaseIterable, Sendable {
    case invited = "INVITED"
    case accepted = "ACCEPTED"
    case removed = "REMOVED"
    case unknown = "UNKNOWN"
}

/// A participant as a request names it.
package struct ParticipantDictionary: Hashable, Sendable {
    package var participantID: Text?
    package var lookup: UserLookup
    /// The type. It is nil when the request does not mention it: an update then leaves it
    /// unchanged.
    package var type: ParticipantType?
    /// The permission. It is nil when the request does not mention it: an update then leaves it
    /// unchanged.
    package var permission: SharePermission?
    /// The status. The server decides it. In a request only `removed` has an effect.
    package var status: AcceptanceStatus?

    package init(
        participantID: Text? = nil, lookup: UserLookup, type: ParticipantType? = nil,
        permission: SharePermission? = nil, status: AcceptanceStatus? = nil
    ) {
        self.participantID = participantID
        self.lookup = lookup
        self.type = type
        self.permission = permission
        self.status = status
    }
}

/// The keys for finding a person (`lookupInfo`). E-mail addresses compare in lower case.
package struct UserLookup: Hashable, Sendable {
    package var emailAddress: Text?
    package var phoneNumber: Text?
    package var userName: UserName?

    package init(
        emailAddress: Text? = nil, phoneNumber: Text? = nil, userName: UserName? = nil
    ) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.userName = userName
    }
}
