import RecordModel
import RecordStore

/// A place below `.recordfs/` (mount.md §8): everything that is computed rather than kept.
indirect enum ControlPath: Hashable, Sendable {
    /// The parts that go on with DATABASE/ZONE/TYPE.
    enum Section: String, CaseIterable, Sendable {
        case conflicts, export, history, meta, query, search, trash
    }

    case root
    case status
    case events
    case ctl
    case metrics
    case errors
    case error(RecordID)
    case schemas
    case schema(isProduction: Bool)
    case section(Section)
    case database(Section, Database)
    case owner(Section, OwnerName)
    case zone(Section, ZoneID)
    case type(Section, TypeID)
    case export(TypeID, TransferFormat)
    case meta(RecordID)
    case history(TypeID, RecordName)
    case version(Int64)
    case trashed(Int64)
    /// The records that match an expression, or contain words.
    case query(TypeID, [UInt8])
    case search(ZoneID, [UInt8])
    /// A symlink in a result to the record.
    case result(of: ControlPath, RecordID)

    enum Shape {
        case directory
        case file(mode: UInt32)
        case symlink
    }

    var shape: Shape {
        switch self {
        case .root, .errors, .schemas, .section, .database, .owner, .zone, .history, .query,
            .search, .type:
            .directory
        case .ctl: .file(mode: 0o200)
        case .schema(let isProduction): .file(mode: isProduction ? 0o444 : 0o644)
        case .error, .trashed: .file(mode: 0o644)
        case .status, .events, .metrics, .export, .meta, .version: .file(mode: 0o444)
        case .result: .symlink
        }
    }
}
