import Glibc
import RecordModel
import RecordStore

/// The access that the user has to a record's file.
struct FileMode {
    let bits: UInt32
    /// Indicates whether the kernel is notified of changes. Where the permission of a record
    /// depends on its parent, there is no notice for all the files that change with the parent: the
    /// kernel asks each time.
    let isAnnounced: Bool
    /// The time of the last change of modes in the zone.
    let changed: Timestamp
}

/// Attributes that follow from the mount's options and from permissions: modes, owners and times of
/// directories.
final class FileModes: Sendable {
    let mounted: Timestamp
    let options: TreeOptions
    let places: TypeDirectories
    let store: RecordStore

    init(mounted: Timestamp, options: TreeOptions, places: TypeDirectories, store: RecordStore) {
        self.mounted = mounted
        self.options = options
        self.places = places
        self.store = store
    }

    /// Returns the time of a database's directory. The kernel keeps the listing of an empty
    /// directory until this time changes.
    func changed(in database: Database) -> Timestamp {
        max(places.changed(in: database) ?? mounted, mounted)
    }

    /// Returns the time of an owner's directory.
    func changed(of owner: OwnerName) -> Timestamp {
        max(places.changed(of: owner) ?? mounted, mounted)
    }

    /// - Parameter changed: the ctime. Nil for the same time as `modified`.
    func directory(
        _ number: NodeNumber, modified: Timestamp, changed: Timestamp? = nil,
        isWritable: Bool = true
    ) -> Attributes {
        let mode: UInt32 = isWritable && !options.isReadOnly ? 0o755 : 0o555
        return Attributes(
            inode: number.inode, mode: UInt32(S_IFDIR) | mode, links: 2, owner: options.owner,
            group: options.group, size: 0, blocks: 0, accessed: modified, modified: modified,
            changed: changed ?? modified)
    }

    /// - Parameter changed: the ctime. Nil for the same time as `modified`.
    func file(
        _ number: NodeNumber, size: Int64, modified: Timestamp, changed: Timestamp? = nil,
        _ mode: UInt32
    ) -> Attributes {
        Attributes(
            inode: number.inode, mode: UInt32(S_IFREG) | mode, owner: options.owner,
            group: options.group, size: size, blocks: Attributes.blocks(of: size),
            accessed: modified,
            modified: modified, changed: changed ?? modified)
    }

    /// Returns the mode of a record's file and of its large fields.
    func fileMode(of record: RecordID, in type: TypeID) throws(RecordError) -> FileMode {
        let zone = try places.place(of: type).zone
        var bits: UInt32 = 0o444
        if !options.isReadOnly, try store.sharing.permission(of: record, in: zone) == .readWrite {
            bits = 0o644
        }
        return FileMode(
            bits: bits, isAnnounced: zone.permission != .mixed, changed: zone.modeChanged)
    }

    func file(
        _ number: NodeNumber, size: Int64, modified: Timestamp, changed: Timestamp,
        _ mode: FileMode
    ) -> Attributes {
        var attributes = file(
            number, size: size, modified: modified, changed: max(changed, mode.changed), mode.bits)
        attributes.isAnnounced = mode.isAnnounced
        return attributes
    }
}
