import RecordModel
import RecordWire

/// The editor of a share.
enum ShareEditor: Hashable {
    case owner
    case administrator(participantID: Text, SharePermission)
    case user(participantID: Text)

    init(of share: ShareRow, _ situation: ShareRules.Situation) throws(ServerError) {
        if case .owner = situation.access.view {
            self = .owner
            return
        }
        guard let user = situation.access.user, let row = share.participant(user.name),
            share.viewers.contains(user.name)
        else {
            throw ServerError(.notFound, "There is no such record for this user.")
        }
        self =
            row.type == .administrator
            ? .administrator(participantID: row.participantID, row.permission(in: share))
            : .user(participantID: row.participantID)
    }
}
