import RecordModel
import RecordStore

/// A place below `.recordfs/`: everything that is computed and not stored (ControlDirectory,
/// "Overview").
enum ControlPath: Hashable, Sendable {
    /// The parts that continue with DATABASE/ZONE/TYPE.
    enum Section: String, CaseIterable, Sendable {
        case conflicts, export, history, meta, query, raw, schema, search, trash
    }

    /// The question of a directory of symlinks: records of a type that match an expression, or
    /// records of a zone that contain words.
    enum ResultSet: Hashable, Sendable {
        case query(TypeID, [UInt8])
        case search(ZoneID, [UInt8])
    }

    /// A directory of a moment.
    enum PastPlace: Hashable, Sendable {
        case root
        case database(Database)
        case owner(OwnerName)
        case zone(ZoneID)
        case type(ZoneID, RecordTypeName)
    }

    /// The files in the directory of a conflict.
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
    case schema(isProduction: Bool)
    case section(Section)
    case database(Section, Database)
    case owner(Section, OwnerName)
    case zone(Section, ZoneID)
    case type(Section, TypeID)
    /// A type in the trash, in the history and in conflicts. It is known by its name, because the
    /// type may no longer exist.
    case keptType(Section, ZoneID, RecordTypeName)
    case export(TypeID, TransferFormat)
    /// The JSON Schema of a type's texts.
    case typeSchema(ZoneID, RecordTypeName)
    /// The records that have a type on the server, while a model gives them others here.
    case rawType(ZoneID, RecordTypeName)
    case raw(RecordID)
    case model
    case modelText
    case meta(RecordID)
    case history(ZoneID, RecordTypeName, RecordName)
    case version(Int64)
    /// The directory of moments. It is not listed in the root, so that a walk through `.recordfs`
    /// ends.
    case moments
    /// A directory as it was after the version with the token.
    case past(Int64, PastPlace)
    /// A large field that a version has. The index is -1 for a field that is no list.
    case pastAsset(version: Int64, FieldName, index: Int)
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

    /// The kind of file. A directory is writable when something in it can be removed.
    var shape: Shape {
        switch self {
        case .errors, .conflict: .directory(isWritable: true)
        case .section(let section), .database(let section, _), .owner(let section, _),
            .zone(let section, _), .type(let section, _), .keptType(let section, _, _):
            .directory(isWritable: section.canBeEmptied)
        case .root, .history, .results, .rawType, .model, .moments, .past:
            .directory(isWritable: false)
        case .ctl: .file(mode: 0o200)
        case .schema(let isProduction): .file(mode: isProduction ? 0o444 : 0o644)
        case .error, .trashed, .conflictFile(_, .merged): .file(mode: 0o644)
        case .status, .events, .metrics, .export, .meta, .version, .conflictFile, .typeSchema, .raw,
            .modelText, .pastAsset:
            .file(mode: 0o444)
        case .result: .symlink
        }
    }
}

extension ControlPath {
    /// Indicates whether it is a moment, something in one, or a directory on the way there.
    var isOfMoments: Bool {
        switch self {
        case .root, .moments, .past, .pastAsset, .version: true
        default: false
        }
    }
}

extension ControlPath.Section {
    /// Indicates whether it is there only while a model is attached.
    var needsModel: Bool { self == .raw }

    /// Indicates whether its content can be removed. Only directories that are not empty are
    /// listed, so that directories that `rm -r` has emptied disappear.
    var canBeEmptied: Bool { self == .trash || self == .conflicts }

    /// The data of removed zones and types that the section shows. Nil when it shows only existing
    /// ones.
    var kept: Kept? {
        switch self {
        case .history: .history
        case .trash: .trash
        case .conflicts: .conflicts
        case .export, .meta, .query, .raw, .schema, .search: nil
        }
    }
}
