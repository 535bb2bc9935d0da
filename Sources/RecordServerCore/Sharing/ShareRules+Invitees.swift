import RecordModel
import RecordWire

extension ShareRules {
    /// Returns the accounts whose invitations a change of a share has made, changed or taken back.
    /// They learn that there is something new in the shared database, and nothing more about the
    /// zone.
    ///
    /// - Parameter hasNewFields: whether its title or other content of its record has changed.
    static func invitees(
        old: ShareRow?, new: ShareRow?, hasNewFields: Bool = false, _ reader: any StorageReader
    ) throws(ServerError) -> Set<UserName> {
        var invitees: Set<UserName> = []
        let (before, after) = (old?.invitations ?? [], new?.invitations ?? [])
        guard let owner = (new ?? old)?.zone.database.owner else { return [] }
        for row in hasNewFields ? before.union(after) : before.symmetricDifference(after) {
            guard let user = try account(of: row, reader),
                try !reader.blocksInvitations(user, of: owner)
            else { continue }
            invitees.insert(user)
        }
        return invitees
    }

    /// Returns how many people a change of a share invites who were not invited before.
    static func newInvitationCount(old: ShareRow?, new: ShareRow) -> Int {
        let known = Set((old?.present ?? []).map(\.participantID))
        return new.invitations.count { !known.contains($0.participantID) }
    }

    /// Returns the account of an invitation. Returns nil when the address of an invitation belongs
    /// to no account.
    private static func account(
        of row: ParticipantRow, _ reader: any StorageReader
    ) throws(ServerError) -> UserName? {
        if let user = row.user { return user }
        if let address = row.lookup.emailAddress,
            let user = try reader.user(emailAddress: address)
        {
            return user.name
        }
        guard let number = row.lookup.phoneNumber else { return nil }
        return try reader.user(phoneNumber: number)?.name
    }
}

extension ShareRow {
    /// The invitations of people, without unused one-time links.
    fileprivate var invitations: Set<ParticipantRow> {
        Set(present.filter { $0.status == .invited && !$0.isOpenLink })
    }
}
