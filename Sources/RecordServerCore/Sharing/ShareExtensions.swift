import RecordModel
import RecordWire

/// The members of a share beyond Apple's reference, as far as the reader may have them. Clients of
/// a strict server do not get them, nor do clients that know only the keys of iCloud's own hosts.
package struct ShareExtensions: Hashable, Sendable {
    /// The scheme, host and port of links. It is nil when none of the extensions is written.
    private let baseURL: String?

    package static let none = ShareExtensions(baseURL: nil)

    package init(_ context: OperationContext, _ settings: ServiceSettings) {
        let areKnown = context.dialect == .webServices && !settings.isStrict
        baseURL = areKnown ? context.baseURL : nil
    }

    private init(baseURL: String?) { self.baseURL = baseURL }

    var areTold: Bool { baseURL != nil }

    func url(ofLink link: Text) -> Text { ShareURL.text(ofLink: link, baseURL: baseURL ?? "") }
}

extension ParticipantRow {
    /// The times of the invitation and of the acceptance, as members of the participant's
    /// dictionary.
    var sinceWhen: [JSONMember] {
        var members: [JSONMember] = []
        if let invitedMilliseconds {
            members.append(JSONMember(key: "invitedAt", value: JSONValue(invitedMilliseconds)))
        }
        if let acceptedMilliseconds {
            members.append(JSONMember(key: "acceptedAt", value: JSONValue(acceptedMilliseconds)))
        }
        if isApprovedRequester {
            members.append(JSONMember(key: "isApprovedRequester", value: .bool(true)))
        }
        return members
    }
}

extension ShareRules {
    /// Returns members for the owner and administrators: whether users may ask for access, the
    /// users who have asked, the blocked people, and the one-time links that nobody has used. An
    /// administrator gets only the links that give no more permission than the administrator has.
    static func access(
        to share: ShareRow, for viewer: UserName?, _ extensions: ShareExtensions,
        _ reader: any StorageReader
    ) throws(ServerError) -> [JSONMember] {
        var requesters: [JSONValue] = []
        for requester in share.requesters {
            guard let account = try reader.user(requester.user) else { continue }
            // A user who asks agrees that the person who answers may know them.
            let identity = UserIdentity(
                userName: requester.user, account: account,
                lookup: UserLookup(emailAddress: account.emailAddress))
            requesters.append([
                "requesterInformation": identity.json,
                "requestedAt": JSONValue(requester.milliseconds),
            ])
        }
        let blocked = share.blocked.map { row -> JSONValue in
            let identity = UserIdentity(
                userName: row.lookup.userName, account: nil, lookup: row.lookup)
            return ["blockedInformation": identity.json]
        }
        let own = viewer.flatMap { share.participant($0) }?.permission(in: share).rank ?? .max
        let links = share.present.filter { $0.isOpenLink && $0.permission(in: share).rank <= own }
        return [
            JSONMember(key: "denyAccessRequests", value: .bool(share.deniesAccessRequests)),
            JSONMember(key: "requesters", value: .array(requesters)),
            JSONMember(key: "blocked", value: .array(blocked)),
            JSONMember(
                key: "oneTimeStableUrlInfo",
                value: ["oneTimeLinks": .array(links.map { link($0, extensions) })]),
        ]
    }

    private static func link(_ row: ParticipantRow, _ extensions: ShareExtensions) -> JSONValue {
        let token = row.link ?? ""
        return [
            "participantId": [.string(row.participantID)], "sharingLink": .string(token),
            "url": .string(extensions.url(ofLink: token)),
        ]
    }
}
