import RecordModel
import RecordWire

/// The zones that a caller finds in a database.
enum ZoneList {
    /// Returns the zones by name, or by owner and name in the shared database. The default zone is
    /// always among those of the public and private databases.
    static func all(
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) -> [ZoneAccess] {
        if context.scope == .shared { return try stored(context, reader) }
        let standard = try ZoneAccess.open(.defaultZone, context, reader)
        guard context.scope == .private else { return [standard] }
        return [standard] + (try stored(context, reader)).filter { !$0.zone.key.isDefaultZone }
    }

    /// Returns the zones that were written to, or made.
    static func stored(
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) -> [ZoneAccess] {
        let user = try context.requireUser()
        guard context.scope == .shared else {
            let database = DatabaseKey(container: context.container, owner: user.name)
            return try reader.zones(database).map { row in
                ZoneAccess(zone: row, view: .owner, user: user)
            }
        }
        var accesses: [ZoneAccess] = []
        for row in try reader.sharedZones(user.name, context.container) {
            let id = ZoneIdentifier(zone: row.zone.zone, owner: row.zone.database.owner)
            do throws(ServerError) {
                accesses.append(try ZoneAccess.open(id, context, reader))
            } catch {
                guard error.code == .zoneNotFound else { throw error }
            }
        }
        return accesses
    }
}
