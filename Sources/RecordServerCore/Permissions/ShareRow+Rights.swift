package import RecordModel
package import RecordWire

extension ParticipantRow {
    /// Returns the permission of this participant in `share`, accepted or not. A public user has
    /// the permission that the URL gives to everybody. An unknown permission gives nothing.
    package func permission(in share: ShareRow) -> SharePermission {
        (type == .publicUser ? share.publicPermission : permission).orNone
    }

    /// Returns whether `lookup` means this participant: the user, or otherwise the address of the
    /// invitation.
    func isNamed(by lookup: UserLookup) -> Bool {
        if let name = lookup.userName, name == user { return true }
        if let address = lookup.emailAddress, address == self.lookup.emailAddress { return true }
        if let number = lookup.phoneNumber, number == self.lookup.phoneNumber { return true }
        return false
    }

    /// Returns whether this participant is `user`, or an invitation that `user` may claim because
    /// it was sent to an address of that account.
    func means(_ user: UserRow) -> Bool {
        if let name = self.user { return name == user.name }
        return user.hasAddress(of: lookup)
    }
}

extension ShareRow {
    /// The participants who are invited or have accepted, without the owner. The rows of removed
    /// participants only say that the URL opens nothing for them, also while the share is public.
    package var present: [ParticipantRow] {
        participants.filter {
            $0.type != .owner && ($0.status == .invited || $0.status == .accepted)
        }
    }

    /// Returns the row of a user who is invited by name or has accepted.
    package func participant(_ user: UserName) -> ParticipantRow? {
        present.first { $0.user == user }
    }

    /// Returns the permission that the zone's shared view gives this user for the share: none
    /// before acceptance.
    package func acceptedPermission(of user: UserName) -> SharePermission {
        guard let row = participant(user), row.status == .accepted else { return .none }
        return row.permission(in: self)
    }

    /// The users whose shared database has the share.
    package var viewers: Set<UserName> {
        Set(
            present.compactMap { row in
                guard row.status == .accepted, row.permission(in: self) != .none else { return nil }
                return row.user
            })
    }

    /// The most removed participants that are remembered.
    package static let removedLimit = 1_000

    /// Removes a participant by the decision of others. The row stays, as REMOVED, until there are
    /// too many. Invitations that nobody accepted are dropped before people.
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

    /// Removes the row of a participant who leaves, or who loses access with all others when the
    /// share opens or closes. The URL then opens the same for them as for anybody.
    package mutating func forget(_ participantID: Text) {
        participants.removeAll { $0.participantID == participantID }
    }

    mutating func replace(_ row: ParticipantRow) {
        guard let index = participants.firstIndex(where: { $0.participantID == row.participantID })
        else { return }
        participants[index] = row
    }
}
