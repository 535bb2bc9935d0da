package import RecordModel
package import RecordWire

/// The share that a link opens.
package enum LinkedShare {
    /// Returns the share that a short GUID or a one-time link opens.
    package static func find(
        _ container: ContainerKey, _ value: Text, _ reader: any StorageReader
    ) throws(ServerError) -> ShareRow? {
        if let share = try reader.share(container, shortGUID: value) { return share }
        return try reader.share(container, link: value)
    }

    /// Returns that share with its zone, and keeps other writers out of the zone.
    static func lock(
        _ container: ContainerKey, _ value: Text, _ transaction: any StorageTransaction
    ) throws(ServerError) -> (share: ShareRow, zone: ZoneRow)? {
        guard let found = try find(container, value, transaction),
            let zone = try transaction.lockZone(found.zone),
            let share = try transaction.share(found.zone, found.name),
            share.shortGUID == value || share.participants.contains(where: { $0.link == value })
        else { return nil }
        return (share, zone)
    }

    /// Stores the new state of the share, and returns the notice for everybody who has it.
    static func save(
        _ new: ShareRow, old: ShareRow, _ zone: ZoneRow, _ stamp: WriteStamp, ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> ChangeNotice {
        let record = try ShareRules.save(
            new, old: old, zone: zone, stamp: stamp, ids: &ids, transaction)
        return ChangeNotice(
            zone: new.zone, changes: [ChangeNotice.Change(event: .update, record: record)],
            viewers: try transaction.viewers(new.zone).map(\.viewer),
            invitees: try ShareRules.invitees(old: old, new: new, transaction).sorted())
    }
}
