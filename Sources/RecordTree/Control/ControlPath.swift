import RecordModel
import RecordStore

/// A place below `.recordfs/` (mount.md §8): everything that is computed rather than kept.
enum ControlPath: Hashable, Sendable {
    /// The parts that go on with DATABASE/ZONE/TYPE.
    enum Section: String, CaseIterable, Sendable {
        case conflicts, export, history, meta, query, search, trash
    }

    /// What a directory of symlinks shows: records of a type that match an expression, or records
    /// of a zone that contain words.
    enum ResultSet: Hashable, Sendable {
        case query(TypeID, [UInt8])
        case search(ZoneID, [UInt8])
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
    /// In the trash and in history: by its name, because the type may be gone.
    case keptType(Section, ZoneID, RecordTypeName)
    case export(TypeID, TransferFormat)
    case meta(RecordID)
    case history(ZoneID, RecordTypeName, RecordName)
    case version(Int64)
    case trashed(Int64)
    case results(ResultSet)
    /// A symlink in a result to the record.
    case result(ResultSet, RecordID)

    enum Shape {
        case directory(isWritable: Bool)
        case file(mode: UInt32)
        case symlink
    }

    /// A directory is writable when something in it can be removed.
    var shape: Shape {
        switch self {
        case .errors, .section(.trash), .database(.trash, _), .owner(.trash, _), .zone(.trash, _),
            .keptType(.trash, _, _):
            .directory(isWritable: true)
        case .root, .schemas, .section, .database, .owner, .zone, .type, .keptType, .history,
            .results:
            .directory(isWritable: false)
        case .ctl: .file(mode: 0o200)
        case .schema(let isProduction): .file(mode: isProduction ? 0o444 : 0o644)
        case .error, .trashed: .file(mode: 0o644)
        case .status, .events, .metrics, .export, .meta, .version: .file(mode: 0o444)
        case .result: .symlink
        }
    }
}

extension ControlPath.Section {
    /// What it shows of zones and types that are gone; nil when it knows only what is there.
    var kept: Kept? {
        switch self {
        case .history: .history
        case .trash: .trash
        case .conflicts, .export, .meta, .query, .search: nil
        }
    }
}
