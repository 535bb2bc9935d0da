import RecordModel
import RecordStore
import RecordWire

extension Invitation {
    /// An invitation with the members that a share has in its file, as far as the server reports
    /// them before the invitation is accepted.
    init(_ answer: InvitationAnswer) throws(ServerError) {
        let owner = try ParticipantAnswer(identity: answer.ownerIdentity)
        let since = answer.invitedMilliseconds.map { ISO8601.print(milliseconds: $0) }
        let members: [(Text, JSONValue?)] = [
            ("url", .string(answer.url)), ("title", answer.title.map { .string($0) }),
            ("type", answer.type.map { .string($0) }), ("owner", owner.ownerJSON),
            ("permission", JSONValue(answer.permission.rawValue)),
            ("status", JSONValue(AcceptanceStatus.invited.rawValue)),
            ("since", since.map { JSONValue($0) }),
        ]
        self.init(
            id: answer.shortGUID,
            json: .object(
                members.compactMap { key, value in
                    value.map { JSONMember(key: key, value: $0) }
                }))
    }
}
