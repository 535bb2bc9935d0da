package import RecordModel
package import RecordWire

extension ParticipantRow {
    /// What this participant may do in `share`, whether it has accepted or not. A public user has
    /// what the URL gives to everybody; an unknown permission gives nothing.
    package func permission(in share: ShareRow) -> SharePermission {
        (type == .publicUser ? share.publicPermission : permission).orNone
    }

    /// Whether `lookup` means this participant: the user, or else the address of the invitation.
    func isNamed(by lookup: UserLookup) -> Bool {
        if let name = lookup.userName, name == user { return true }
        if let address = lookup.emailAddress, address == self.lookup.emailAddress { return true }
        if let number = lookup.phoneNumber, number == self.lookup.phoneNumber { return true }
        return false
    }

    /// Whether this participant is `user`, or an invitation that `user` may claim because it went
    /// to an address of that account.
    func means(_ user: UserRow) -> Bool {
        if let name = self.user { return name == user.name }
        return user.hasAddress(of: lookup)
    }
}

extension ShareRow {
    /// Those who are invited or have accepted, without the owner. What is kept of the removed
    /// only says that the URL opens nothing for them, also while the share is public.
    package var present: [ParticipantRow] {
        participants.filter {
            $0.type != .owner && ($0.status == .invited || $0.status == .accepted)
        }
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

    /// How many of the removed are remembered.
    package static let removedLimit = 1_000

    /// Takes a participant out by the will of others: the row stays, as REMOVED, until it is one
    /// of too many. Invitations that nobody accepted are forgotten before people.
    package mutating func remove(_ participantID: Text) {
        guard let index = participants.firstIndex(where: { $0.participantID == participantID })
        else { return }
        var row = participants.remove(at: index)
        row.status = .removed
        participants.append(row)
        let removed = participants.filter { $0.status == .removed }
        let excess = removed.count - Self.removedLimit
        guard excess > 0 else { return }
        let order = removed.filter { $0.user == nil } + removed.filter { $0.user != nil }
        let forgotten = Set(order.prefix(excess).map(\.participantID))
        participants.removeAll { forgotten.contains($0.participantID) }
    }

    /// Takes out whoever leaves, or is out with all others when the share opens or closes: the
    /// URL opens for them what it opens for anybody.
    package mutating func forget(_ participantID: Text) {
        participants.removeAll { $0.participantID == participantID }
    }

    mutating func replace(_ row: ParticipantRow) {
        guard let index = participants.firstIndex(where: { $0.participantID == row.participantID })
        else { return }
        participants[index] = row
    }
}
