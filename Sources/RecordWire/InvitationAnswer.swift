package import RecordModel

/// A share to which a user is invited and which they have not accepted yet. changes/database of the
/// shared database lists it for clients that ask (`wantsInvitations`, an extension).
package struct InvitationAnswer: Hashable, Sendable {
    package var shortGUID: Text
    /// The link of the share.
    package var url: Text
    /// The title of the share that people see before they accept.
    package var title: Text?
    /// The kind of the shared object.
    package var type: Text?
    /// The owner, as a user identity dictionary (Protocol, "wantsInvitations").
    package var ownerIdentity: JSONValue
    package var permission: SharePermission
    /// The time of the invitation since 1970. It is nil for an invitation from before this was
    /// kept.
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

    /// The owner's e-mail address. If it is not known, the user name.
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
