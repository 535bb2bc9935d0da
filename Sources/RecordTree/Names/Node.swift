import Glibc
import RecordModel
import RecordStore

/// The subject of a node.
enum Node: Hashable, Sendable {
    case root
    case readme
    case database(Database)
    /// A directory under `shared/`.
    case owner(OwnerName)
    case zone(ZoneID)
    case type(TypeID)
    case record(RecordFile)
    case asset(AssetID)
    /// `.error` in a TYPE directory.
    case errorFile(TypeID)
    case scratch(ScratchID)
    case control(ControlPath)
    case share(ShareFile)

    /// Indicates whether the kernel may keep the entry and its attributes until it is notified.
    var isCacheable: Bool {
        switch self {
        case .control, .errorFile, .share: false
        default: true
        }
    }
}

extension Node {
    /// Indicates whether the kernel may keep the entry for a second. In a walk through a moment every
    /// path leads through the same directories, and each would be asked for again.
    var isBrief: Bool { if case .control(let path) = self { path.isOfMoments } else { false } }
}

/// A scratch file while the kernel knows it.
struct ScratchID: Hashable, Sendable {
    let rawValue: UInt64
}

extension NodeNumber {
    /// The node of a computed number. Nil for a counted one.
    var arithmeticNode: Node? {
        switch kind {
        case .fixed:
            if self == .root { return .root }
            return self == .readme ? .readme : nil
        case .database: return Database(rawValue: row).map(Node.database)
        case .zone: return .zone(ZoneID(row))
        case .type: return .type(TypeID(row))
        case .record:
            return .record(RecordFile(record: RecordID(row), incarnation: epoch))
        case .asset: return .asset(AssetID(row))
        case .errorFile: return .errorFile(TypeID(row))
        case .trashed: return .control(.trashed(row))
        case .version: return .control(.version(row))
        case .meta: return .control(.meta(RecordID(row)))
        case .zoneShare: return .share(.zone(ZoneID(row)))
        case .recordShare: return .share(.record(RecordID(row)))
        case .counted, .control, nil: return nil
        }
    }

    init(_ database: Database) { self.init(kind: .database, row: database.rawValue) }
    init(_ zone: ZoneID, epoch: UInt32) {
        self.init(kind: .zone, row: zone.rawValue, epoch: epoch)
    }
    init(_ type: TypeID) { self.init(kind: .type, row: type.rawValue) }
    init(_ file: RecordFile) {
        self.init(kind: .record, row: file.record.rawValue, epoch: file.incarnation)
    }
    init(_ asset: AssetID, epoch: UInt32) {
        self.init(kind: .asset, row: asset.rawValue, epoch: epoch)
    }
    init(_ share: ShareFile, epoch: UInt32) {
        switch share {
        case .zone(let zone): self.init(kind: .zoneShare, row: zone.rawValue, epoch: epoch)
        case .record(let record):
            self.init(kind: .recordShare, row: record.rawValue, epoch: epoch)
        }
    }
    init(errorsOf type: TypeID) { self.init(kind: .errorFile, row: type.rawValue) }
}
