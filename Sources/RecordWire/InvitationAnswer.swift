package import RecordModel

/// A share that somebody is invited to and has not accepted, as changes/database of the shared database
/// tells who asks (`wantsInvitations`, an extension).
package struct InvitationAnswer: Hashable, Sendable {
    package var shortGUID: Text
    /// The link of the share.
    package var url: Text
    /// What people see of it before they accept.
    package var title: Text?
    /// What kind of thing it is.
    package var type: Text?
    /// Whose it is, as a user identity dictionary (reference §5.8).
    package var ownerIdentity: JSONValue
    package var permission: SharePermission
    /// Since 1970; nil for one of before this was kept.
    package var invitedMilliseconds: Int64?

    package init(
        shortGUID: Text, url: Text, title: Text?, type: Text?, ownerIdentity: JSONValue,
        permission: SharePermission, invitedMilliseconds: Int64?
    ) {
        self.shortGUID = shortGUID
        self.url = url
        self.title = title
        self.type = type
        self.ownerIdentity = ownerIdentity
        self.permission = permission
        self.invitedMilliseconds = invitedMilliseconds
    }

    /// The owner's e-mail address, or else the user name.
    package var ownerName: Text? {
        (ownerIdentity["lookupInfo"]?["emailAddress"] ?? ownerIdentity["userRecordName"])?.string
    }
}

extension InvitationAnswer: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("shortGUID", shortGUID)
            answer.member("url", url)
            answer.member("title", title)
            answer.member("type", type)
            answer.member("ownerIdentity", ownerIdentity)
            answer.member("participantPermission", permission.rawValue)
            answer.member("invitedAt", invitedMilliseconds)
        }
    }

    package init(_ json: JSONReader) throws(ServerError) {
        self.init(
            shortGUID: try json.required("shortGUID").string(),
            url: try json.required("url").string(), title: try json.string("title"),
            type: try json.string("type"),
            ownerIdentity: try json.required("ownerIdentity").value,
            permission: try json.string("participantPermission").flatMap {
                SharePermission(rawValue: $0.string)
            } ?? .unknown,
            invitedMilliseconds: try json["invitedAt"]?.int64())
    }
}
