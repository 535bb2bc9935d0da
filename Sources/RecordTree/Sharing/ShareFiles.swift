import Glibc
import RecordModel
import RecordStore

/// The files of shares as the mount shows them.
final class ShareFiles: Sendable {
    let handles: OpenHandles
    let modes: FileModes
    let options: TreeOptions
    let permissions: OwnPermissions
    let places: TypeDirectories
    let records: OpenRecords
    let shareStates: ShareStates
    let store: RecordStore

    init(_ ground: Ground, _ recordRooms: RecordRooms, shareStates: ShareStates) {
        handles = ground.handles
        modes = ground.modes
        options = ground.options
        permissions = ground.permissions
        places = ground.places
        records = recordRooms.records
        self.shareStates = shareStates
        store = ground.store
    }

    /// Throws when the share that the file shows has ended.
    func checkIsShared(_ file: ShareFile) throws(RecordError) {
        if try share(file) == nil { throw .sharedNoLonger(kept: false) }
    }

    /// Returns whether the share is not shown under its name for a moment.
    func isSetAside(_ file: ShareFile) -> Bool {
        shareStates.isAside(file)
    }

    /// Returns the zone or record whose share has the name. Returns nil for another name, and where
    /// there is no such record.
    func file(at place: ScratchPlace) throws(RecordError) -> ShareFile? {
        guard place.isOfShare else { return nil }
        switch place.directory {
        case .zone(let zone): return .zone(zone)
        case .type(let type):
            guard let stem = ShareName.stem(in: place.name) else { return nil }
            return try records.find(type, stem).map { .record($0.record) }
        case .root, .database, .scratch: return nil
        }
    }

    /// Returns the share that a name shows. Returns nil where there is none.
    func find(_ place: ScratchPlace) throws(RecordError) -> ShareFile? {
        guard let file = try file(at: place), !isSetAside(file), try share(file) != nil else {
            return nil
        }
        return file
    }

    /// Returns the share of a file with its zone. Returns nil where nothing is shared.
    func share(_ file: ShareFile) throws(RecordError) -> ShownShare? {
        switch file {
        case .zone(let id):
            guard let zone = try store.zone(id),
                let share = try store.sharing.share(of: nil, in: id)
            else { return nil }
            return ShownShare(share: share, zone: zone)
        case .record(let id):
            guard let meta = try store.meta(of: id) else { return nil }
            let zone = try places.place(of: meta.type).zone
            let share = try store.sharing.share(of: meta.name, in: zone.id)
            return share.map { ShownShare(share: $0, zone: zone) }
        }
    }

    func attributes(_ file: ShareFile) throws(RecordError) -> Attributes? {
        guard let shown = try share(file) else { return nil }
        let mayWrite = try shown.isManaged && !options.isReadOnly
        return modes.file(
            NodeNumber(file, epoch: 0), size: Int64(shown.text.count),
            modified: shown.share.changed,
            mayWrite ? 0o644 : 0o444)
    }

    /// Returns the shares of records that a TYPE directory shows, in the order of the records' rows.
    func files(in type: TypeID) throws(RecordError) -> [(name: [UInt8], record: RecordID)] {
        try sharedRecords(in: places.place(of: type).zone.id).compactMap { record in
            guard record.type == type, !record.isHidden else { return nil }
            let name = ShareName.of(record.stem)
            return name.count <= 255 ? (name, record.id) : nil
        }.sorted { $0.record < $1.record }
    }

    /// Returns the records of a zone that have their own shares.
    func sharedRecords(in zone: ZoneID) throws(RecordError) -> [RecordEntry] {
        var records: [RecordEntry] = []
        for share in try store.sharing.shares(in: zone) {
            guard let root = share.root, let record = try store.record(named: root, in: zone)
            else { continue }
            records.append(record)
        }
        return records
    }

    /// Throws unless this user may change the share.
    func checkWritable(_ file: ShareFile) throws(RecordError) {
        try permissions.checkWritable()
        guard let shown = try share(file) else { throw .noSuchFile }
        guard try shown.isManaged else {
            throw RecordError(.accessDenied, "only the managers of the share can change it")
        }
    }

    func open(_ file: ShareFile, flags: Int32) throws(RecordError) -> Opened {
        guard let shown = try share(file) else {
            throw RecordError(.stale, "it is no longer shared")
        }
        guard flags & O_ACCMODE != O_RDONLY else {
            return Opened(
                handle: handles.add(.share(file, shown.text), flags: flags), isDirect: true)
        }
        try checkWritable(file)
        let buffer = CommandBuffer(
            .share(file), base: shown.text, isEmpty: flags & O_TRUNC != 0)
        return Opened(handle: handles.add(.command(buffer), flags: flags), isDirect: true)
    }
}
