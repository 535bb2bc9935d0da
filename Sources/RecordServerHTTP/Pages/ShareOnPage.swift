import RecordModel
import RecordServerCore
import RecordWire

/// A share as its page shows it.
struct ShareOnPage: Sendable {
    /// The relation of the visitor to the share.
    enum Relation: Hashable, Sendable {
        case owner
        case member
        /// The visitor is invited, or the share is open to everybody with the address.
        case invited
        /// The visitor is not signed in, and the share is not open to everybody.
        case unknown
    }

    let container: ContainerKey
    let relation: Relation
    /// Indicates whether the share is a whole zone, and not a record and its children.
    let isZone: Bool
    /// The permission of anybody with the address.
    let publicPermission: SharePermission
    /// The number of users who ask for access. It is nil for visitors who may not know it.
    let requesterCount: Int?
    /// The preview. It is nil when the visitor may not see it; the owner's name is then nil too.
    let preview: SharePreview?
    let ownerName: Text?
    let permission: SharePermission
}

extension Pages {
    /// Returns the share with this short GUID for this person. Returns nil for a GUID that does not
    /// exist, and also for a share that the person is not invited to.
    func share(_ shortGUID: Text, for user: UserRow?) async throws(ServerError) -> ShareOnPage? {
        guard (1...64).contains(shortGUID.utf8.count),
            shortGUID.utf8.allSatisfy(ShortGUIDRule.isByte)
        else { return nil }
        return try await service.storage.read { (reader) throws(ServerError) -> ShareOnPage? in
            for key in try ContainerKey.all(reader) {
                guard let row = try LinkedShare.find(key, shortGUID, reader) else { continue }
                return try Self.show(row, openedBy: shortGUID, to: user, reader)
            }
            return nil
        }
    }

    private static func show(
        _ row: ShareRow, openedBy value: Text, to user: UserRow?, _ reader: any StorageReader
    ) throws(ServerError) -> ShareOnPage? {
        let standing = user.map { ShareStanding(of: $0, in: row, by: value) }
        guard let relation = relation(standing, to: row) else { return nil }
        let owner = row.zone.database.owner
        var preview: SharePreview?
        var ownerName: Text?
        if relation != .unknown {
            ownerName = try reader.user(owner)?.displayName
            preview = try Self.preview(of: row, reader)
        }
        return ShareOnPage(
            container: row.zone.database.container, relation: relation, isZone: row.root == nil,
            publicPermission: row.publicPermission.orNone,
            requesterCount: relation == .owner ? row.requesters.count : nil, preview: preview,
            ownerName: ownerName,
            permission: standing?.permission(in: row) ?? row.publicPermission)
    }

    private static func relation(
        _ standing: ShareStanding?, to row: ShareRow
    ) -> ShareOnPage.Relation? {
        let isOpen = row.publicPermission == .readOnly || row.publicPermission == .readWrite
        guard let standing else { return isOpen ? .invited : .unknown }
        switch standing {
        case .owner: return .owner
        case .participant(let own): return own.status == .accepted ? .member : .invited
        case .visitor: return .invited
        case .stranger: return nil
        }
    }

    private static func preview(
        of row: ShareRow, _ reader: any StorageReader
    ) throws(ServerError) -> SharePreview? {
        guard let zone = try reader.zone(row.zone),
            let record = try reader.records(zone.handle, [row.name])[row.name], !record.isDeleted
        else { return nil }
        return try SharePreview(of: record)
    }
}

extension UserRow {
    /// The name for people. It is nil rather than anything that would reveal the e-mail address.
    var displayName: Text? {
        let parts = [givenName, familyName].filter { !$0.isEmpty }.map(\.string)
        return parts.isEmpty ? nil : Text(parts.joined(separator: " "))
    }
}
