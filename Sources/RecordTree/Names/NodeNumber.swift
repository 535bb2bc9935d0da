import RecordModel
import RecordStore

/// The number by which the kernel knows a node between lookup and forget.
///
/// Most numbers are computed from the row of the thing that they name, so that a million looked-up
/// records cost the daemon no memory. Only scratch and `.recordfs` nodes, which have no row, get
/// numbers from a counter and stay in a table until the kernel forgets them.
///
/// Layout: the kind is in bits 56...62. Kinds with an epoch have it in bits 34...55 and the row in
/// bits 0...33. Other kinds have the row in bits 0...55. The epoch distinguishes the files of one
/// row, so that the next file never meets the pages, the open descriptors or the working
/// directories of the one before it. For a record and a zone it is the incarnation, which the store
/// keeps.
package struct NodeNumber: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let root = NodeNumber(rawValue: 1)
    /// The number of a listed name without attributes.
    static let none = NodeNumber(rawValue: 0)
    static let readme = NodeNumber(kind: .fixed, row: 2)

    enum Kind: UInt64 {
        case fixed = 1
        case database = 2
        case zone = 3
        case type = 4
        case record = 5
        case asset = 6
        case errorFile = 7
        case counted = 8
        case trashed = 9
        case version = 10
        case meta = 11
        /// Only an inode. It belongs to a counted number and is computed from the thing that the
        /// number names.
        case control = 12
        case zoneShare = 13
        case recordShare = 14

        /// The number of bits of the row.
        var rowBits: UInt64 {
            switch self {
            case .zone, .record, .asset, .zoneShare, .recordShare: 34
            case .fixed, .database, .type, .errorFile, .counted, .trashed, .version, .meta,
                .control:
                56
            }
        }
    }

    /// The number of epochs that one row can have. It is the number of incarnations of a record.
    static let epochs = RecordFile.incarnations

    /// - Parameter epoch: 0 for a kind that has none.
    init(kind: Kind, row: Int64, epoch: UInt32 = 0) {
        let bits = kind.rowBits
        rawValue =
            kind.rawValue << 56 | UInt64(epoch % Self.epochs) << bits
            | UInt64(bitPattern: row) & (1 << bits - 1)
    }

    var kind: Kind? { self == .root ? .fixed : Kind(rawValue: rawValue >> 56) }
    var row: Int64 { Int64(rawValue & (1 << (kind?.rowBits ?? 56) - 1)) }
    var epoch: UInt32 {
        guard let bits = kind?.rowBits, bits < 56 else { return 0 }
        return UInt32(truncatingIfNeeded: rawValue >> bits) % Self.epochs
    }

    /// Indicates whether the number belongs to a directory that can be removed while it is a
    /// working directory, and that is not a directory of the host.
    var isOfRemovable: Bool { kind == .zone || kind == .type }

    /// Indicates whether this number, as an inode, certainly belongs to a directory of the mount.
    /// Scratch has the numbers of the host.
    package var isDirectoryOfMount: Bool {
        switch kind {
        case .database, .zone, .type: true
        case .fixed: self == .root
        default: false
        }
    }

    /// The inode that `stat` shows. It stays the same after a remount. The epochs of assets and
    /// shares belong to this mount only.
    package var inode: UInt64 {
        switch kind {
        case .asset: NodeNumber(kind: .asset, row: row).rawValue
        // Lower than the numbers of records: in a large directory `rm -r` removes the entry with
        // the lowest number first.
        case .zoneShare: 1 << 50 | UInt64(row)
        case .recordShare: 1 << 51 | UInt64(row)
        default: rawValue
        }
    }
}
