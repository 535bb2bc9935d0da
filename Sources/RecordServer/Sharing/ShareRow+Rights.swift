package import RecordModel
package import RecordWire

extension ParticipantRow {
    /// What this participant may do in `share`, whether it has accepted or not. A public user has
    /// what the URL gives to everybody; an unknown permission gives nothing.
    package func permission(in share: ShareRow) -> SharePermission {
        let granted = type == .publicUser ? share.publicPermission : permission
        return granted == .unknown ? .none : granted
    }
}

extension ShareRow {
    /// Those who are invited or have accepted, without the owner. What is kept of the removed
    /// only says that their URL opens nothing.
    package var present: [ParticipantRow] {
        participants.filter { $0.status == .invited || $0.status == .accepted }
    }

    /// The row of a user who is invited by name or has accepted.
    package func participant(_ user: UserName) -> ParticipantRow? {
        present.first { $0.user == user }
    }

    /// What the zone's shared view shows this user of the share: nothing before acceptance.
    package func acceptedPermission(of user: UserName) -> SharePermission {
        guard let row = participant(user), row.status == .accepted else { return .none }
        return row.permission(in: self)
    }

    /// Everybody whose shared database has the share.
    package var viewers: Set<UserName> {
        Set(
            present.compactMap { row in
                guard row.status == .accepted, row.permission(in: self) != .none else { return nil }
                return row.user
            })
    }
}
