import Glibc
import RecordModel

/// The place of a scratch file: its directory and its name there.
struct ScratchPlace: Hashable, Sendable {
    enum Directory: Hashable, Sendable {
        /// The root of the mount, for `.Trash-UID`.
        case root
        case database(Database)
        case zone(ZoneID)
        case type(TypeID)
        case scratch(ScratchID)
    }
    let directory: Directory
    let name: [UInt8]
}

extension ScratchPlace.Directory {
    /// The name of the directory in the scratch root for the files of a database, zone or type.
    var baseName: [UInt8] {
        switch self {
        case .root: Array("m0".utf8)
        case .database(let database): Array("d\(database.rawValue)".utf8)
        case .zone(let zone): Array("z\(zone.rawValue)".utf8)
        case .type(let type): Array("t\(type.rawValue)".utf8)
        case .scratch: []
        }
    }

    /// Reads the name of a directory in the scratch root, as `baseName` writes it.
    init?(baseName: [UInt8]) {
        guard let kind = baseName.first,
            let number = Int64(String(decoding: baseName.dropFirst(), as: UTF8.self))
        else { return nil }
        switch kind {
        case UInt8(ascii: "m"):
            guard number == 0 else { return nil }
            self = .root
        case UInt8(ascii: "d"):
            guard let database = Database(rawValue: number) else { return nil }
            self = .database(database)
        case UInt8(ascii: "z"): self = .zone(ZoneID(number))
        case UInt8(ascii: "t"): self = .type(TypeID(number))
        default: return nil
        }
    }
}
