import Glibc
import RecordModel
import RecordStore

/// The permissions of this user in zones, record types and records.
final class OwnPermissions: Sendable {
    let options: TreeOptions
    let places: TypeDirectories
    let store: RecordStore

    init(options: TreeOptions, places: TypeDirectories, store: RecordStore) {
        self.options = options
        self.places = places
        self.store = store
    }

    /// Throws for a zone or record type with a record that may only be read: a program that moves
    /// it by copying would have the copies, and could not remove the original. Errors:
    /// accessDenied.
    func checkMayGo(_ node: Node) throws(RecordError) {
        let (zone, type): (ZoneInfo?, TypeID?)
        switch node {
        case .zone(let id): (zone, type) = (try store.zone(id), nil)
        case .type(let id): (zone, type) = (try places.place(of: id).zone, id)
        default: return
        }
        guard let zone, try store.sharing.hasReadOnlyRecord(in: zone, type: type) else { return }
        throw RecordError(
            .accessDenied,
            "You may only read its records, or some of them: copy what you need.")
    }

    /// Throws for a zone or record type of this user in which something is shared: a program that
    /// moves it by copying would end the share for everyone, or fail after copying everything.
    /// Errors: notPermitted.
    func checkIsNotShared(_ node: Node) throws(RecordError) {
        let (zone, type): (ZoneInfo?, TypeID?)
        switch node {
        case .zone(let id): (zone, type) = (try store.zone(id), nil)
        case .type(let id): (zone, type) = (try places.place(of: id).zone, id)
        default: return
        }
        guard let zone, zone.database == .private else { return }
        for share in try store.sharing.shares(in: zone.id) {
            if let type {
                guard let root = share.root,
                    try store.record(named: root, in: zone.id)?.type == type
                else { continue }
            }
            throw RecordError(
                .notPermitted,
                "\(share.root.map { "The record \($0) in it" } ?? "The zone") is shared, and what is "
                    + "shared stays in its place: copies are shared with nobody. Stop sharing with "
                    + "`recordfs share stop` and move it then, or copy it.")
        }
    }

    /// Throws unless names may be added and removed in the directory of scratch names.
    func checkWritable(_ directory: ScratchPlace.Directory) throws(RecordError) {
        switch directory {
        case .type(let type): try checkWritable(type)
        case .zone(let zone):
            if let info = try store.zone(zone) { try checkWritable(info) }
        case .root, .database, .scratch: try checkWritable()
        }
    }

    func checkWritable() throws(RecordError) {
        if options.isReadOnly { throw RecordError(.readOnly, "the mount is read-only") }
    }

    /// Throws unless this user may change records of the type.
    func checkWritable(_ type: TypeID) throws(RecordError) {
        try checkWritable()
        try checkWritable(try places.place(of: type).zone)
    }

    /// Throws unless this user may change this record and its large fields: in some zones each
    /// record has its own permission.
    func checkWritable(_ record: RecordID, in type: TypeID) throws(RecordError) {
        try checkWritable(type)
        let zone = try places.place(of: type).zone
        guard try store.sharing.permission(of: record, in: zone) == .readOnly else { return }
        throw RecordError(.accessDenied, "the record is shared with you for reading only")
    }

    /// Throws unless this user may change the record with that name, if there is one.
    func checkWritable(_ stem: Stem, in type: TypeID) throws(RecordError) {
        try checkWritable(type)
        guard try places.place(of: type).zone.permission == .mixed,
            let record = try store.record(type, stem)
        else { return }
        try checkWritable(record.id, in: type)
    }

    /// Throws unless this user may write to the zone's directories. Where the user may change only
    /// some of its records, new records may be made.
    func checkWritable(_ zone: ZoneInfo) throws(RecordError) {
        guard zone.permission != .readOnly else {
            throw RecordError(
                .accessDenied, "the zone \(zone.name) is shared with you for reading only")
        }
    }
}
