import Glibc
import RecordModel
import RecordStore

/// The facts about a TYPE directory that the tree needs at every call.
struct TypeDirectory: Sendable {
    let type: RecordTypeName
    let zone: ZoneInfo

    /// Its names below the mount point.
    var shownPath: [[UInt8]] { zone.shownPath + [zone.mapping.directoryName(of: type)] }
}

extension ZoneInfo {
    /// The names of its directory below the mount point.
    var shownPath: [[UInt8]] {
        var parts = [Array(database.name.utf8)]
        if database == .shared { parts.append(owner.fileName) }
        return parts + [NameCodec.encode(name.bytes)]
    }
}
