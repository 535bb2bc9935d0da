package import RecordModel
package import RecordWire

/// The invitations of a user in the feed of the shared database. An answer says no more of each
/// than records/resolve does.
extension DatabasePage {
    /// The most invitations on a page.
    package static let maximumInvitations = 100
    /// The most bytes of a title or a type, which may be as long as a record.
    private static let maximumTextBytes = 255

    package static func invitations(
        of user: UserRow, from offset: Int = 0, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> (page: [InvitationAnswer], next: Text?) {
        var answers: [InvitationAnswer] = []
        let shares = try reader.invitations(
            of: user, context.container, from: offset, limit: maximumInvitations + 1)
        for share in shares.prefix(maximumInvitations) {
            // `ShareStanding` alone decides whether the share still opens for this user.
            guard case .participant(let row) = ShareStanding(of: user, in: share),
                row.status == .invited, let zone = try reader.zone(share.zone),
                let record = try reader.records(zone.handle, [share.name])[share.name],
                !record.isDeleted
            else { continue }
            let preview = try SharePreview(of: record)
            answers.append(
                InvitationAnswer(
                    shortGUID: share.shortGUID,
                    url: ShareURL.text(share, title: preview.title, baseURL: context.baseURL),
                    title: preview.title?.prefix(bytes: maximumTextBytes),
                    type: preview.type?.prefix(bytes: maximumTextBytes),
                    ownerIdentity: try UserIdentity(
                        owner: share.zone.database.owner, showsAddress: row.type != .publicUser,
                        reader
                    ).json,
                    permission: row.permission(in: share),
                    invitedMilliseconds: row.invitedMilliseconds))
        }
        let next = offset + maximumInvitations
        return (answers, shares.count > maximumInvitations ? Text(String(next)) : nil)
    }
}

extension Text {
    /// Returns the longest beginning of at most `count` bytes that splits no character.
    fileprivate func prefix(bytes count: Int) -> Text {
        guard utf8.count > count else { return self }
        var end = count
        while end > 0, utf8[end] & 0xC0 == 0x80 { end -= 1 }
        return Text(utf8: Array(utf8[..<end]))
    }
}
