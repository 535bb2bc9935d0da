import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The TYPE directories with their zones. Every getattr needs them for the write permission.
final class TypeDirectories: Sendable {
    private struct Known {
        var places: [TypeID: TypeDirectory] = [:]
        /// The times when a zone was last added or removed.
        var changed: [Database: Timestamp] = [:]
        var changedOwners: [OwnerName: Timestamp] = [:]
    }

    let options: TreeOptions
    let store: RecordStore
    private let known = Mutex(Known())

    init(options: TreeOptions, store: RecordStore) {
        self.options = options
        self.store = store
    }

    /// Returns the time when a zone of the database was last added or removed. Returns nil when
    /// that did not happen since the mount.
    func changed(in database: Database) -> Timestamp? { known.withLock { $0.changed[database] } }

    /// Returns the same for the zones that an owner shares with this user.
    func changed(of owner: OwnerName) -> Timestamp? {
        known.withLock { $0.changedOwners[owner] }
    }

    /// Notes that a zone was added or removed: the directories that list it have changed.
    func noteChanged(_ zone: ZoneInfo, at time: Timestamp) {
        known.withLock { known in
            known.changed[zone.database] = time
            if zone.database == .shared { known.changedOwners[zone.owner] = time }
        }
    }

    /// Forgets all places, because zones or types were added, removed or given other modes.
    func forgetAll() { known.withLock { known in known.places = [:] } }

    func forget(_ type: TypeID) { known.withLock { known in known.places[type] = nil } }

    func forget(in zone: ZoneID) {
        known.withLock { known in
            known.places = known.places.filter { $0.value.zone.id != zone }
        }
    }

    /// Returns the type directory with its zone.
    func place(of type: TypeID) throws(RecordError) -> TypeDirectory {
        if let place = known.withLock({ $0.places[type] }) { return place }
        guard let info = try store.type(type), let zone = try store.zone(info.zone) else {
            throw RecordError(.stale, "the directory is gone")
        }
        let place = TypeDirectory(type: info.name, zone: zone)
        known.withLock { $0.places[type] = place }
        return place
    }

    /// Returns the path of a TYPE directory below the mount point. Returns nil when it no longer
    /// exists.
    func directoryPath(of type: TypeID) -> [UInt8]? {
        guard let place = try? place(of: type) else { return nil }
        return Array(place.shownPath.joined(separator: [UInt8(ascii: "/")]))
    }

    /// Returns whether the zone belongs to others, also when it was removed.
    func isOfOthers(_ zone: ZoneID) -> Bool {
        do throws(RecordError) {
            return try store.past.keptZone(zone)?.database == .shared
        } catch {
            options.report("Files of a zone may stay readable until they are closed: \(error)")
            return false
        }
    }

    /// Returns the path below the mount in a form for people.
    static func path(_ parts: [[UInt8]]) -> String {
        String(decoding: Array(parts.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }
}
