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

    /// What the directory of a conflict has.
    enum ConflictFile: String, CaseIterable, Sendable {
        case base = "base.json"
        case mine = "mine.json"
        case theirs = "theirs.json"
        case merged = "merged.json"
        case report = "report.txt"
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
    /// In the trash, in history and of conflicts: by its name, because the type may be gone.
    case keptType(Section, ZoneID, RecordTypeName)
    case export(TypeID, TransferFormat)
    case meta(RecordID)
    case history(ZoneID, RecordTypeName, RecordName)
    case version(Int64)
    case trashed(Int64)
    case conflict(Int64)
    case conflictFile(Int64, ConflictFile)
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
        case .errors, .conflict: .directory(isWritable: true)
        case .section(let section), .database(let section, _), .owner(let section, _),
            .zone(let section, _), .type(let section, _), .keptType(let section, _, _):
            .directory(isWritable: section.canBeEmptied)
        case .root, .schemas, .history, .results: .directory(isWritable: false)
        case .ctl: .file(mode: 0o200)
        case .schema(let isProduction): .file(mode: isProduction ? 0o444 : 0o644)
        case .error, .trashed, .conflictFile(_, .merged): .file(mode: 0o644)
        case .status, .events, .metrics, .export, .meta, .version, .conflictFile:
            .file(mode: 0o444)
        case .result: .symlink
        }
    }
}

extension ControlPath.Section {
    /// What is in it can be removed. Only what is not empty is listed, so that what `rm -r` has
    /// emptied is gone.
    var canBeEmptied: Bool { self == .trash || self == .conflicts }

    /// What it shows of zones and types that are gone; nil when it knows only what is there.
    var kept: Kept? {
        switch self {
        case .history: .history
        case .trash: .trash
        case .conflicts: .conflicts
        case .export, .meta, .query, .search: nil
        }
    }
}
