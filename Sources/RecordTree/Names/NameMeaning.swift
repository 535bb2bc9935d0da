import Glibc
import RecordModel

/// The meaning of a name in a directory, before a check whether it exists.
enum NameMeaning {
    case zone(Database, OwnerName, ZoneName)
    case type(ZoneID, RecordTypeName)
    case record(TypeID, Stem)
    case asset(FieldFile)
    case errorFile(TypeID)
    case scratch(ScratchPlace)
    case control(ControlPath, [UInt8])
    case database(Database)
    case owner(OwnerName)
    case fixed(Node)
    /// Nothing with this name can exist in the directory.
    case impossible
}

extension NameMeaning {
    /// Returns whether the kernel must look up the name each time. The name of a list element means
    /// other bytes after any change of the list. The name of a share means a draft or the share,
    /// also after a change during which the kernel cannot be notified to forget the name. A refused
    /// call replaces `.error`, and a program reads the reason before a notice can arrive.
    static func isVolatile(_ name: [UInt8], in parent: Node) -> Bool {
        if name == errorName { return true }
        if case .type = parent, case .asset(_, _, _?, _) = EntryName(classifying: name) {
            return true
        }
        return isShareName(name, in: parent)
    }

    static let errorName = Array(".error".utf8)
    static let controlName = Array(".recordfs".utf8)

    /// Returns the meaning that the bytes of the name have.
    static func plain(of name: [UInt8], in parent: Node) -> NameMeaning {
        // The kernel never asks for these names. In a path of the host they would lead to another
        // place.
        guard isFileName(name) else { return .impossible }
        switch parent {
        case .root: return rootMeaning(of: name)
        case .database(let database):
            if name.first == UInt8(ascii: ".") {
                return .scratch(ScratchPlace(directory: .database(database), name: name))
            }
            if database == .shared {
                return OwnerName(fileName: name).map { .owner($0) } ?? .impossible
            }
            guard let decoded = NameCodec.decode(name) else { return .impossible }
            return .zone(database, .me, ZoneName(bytes: decoded))
        case .owner(let owner):
            guard let decoded = NameCodec.decode(name) else { return .impossible }
            return .zone(.shared, owner, ZoneName(bytes: decoded))
        case .zone(let zone):
            if name.first == UInt8(ascii: ".") {
                return .scratch(ScratchPlace(directory: .zone(zone), name: name))
            }
            let type = ZoneMapping.plain.typeName(ofDirectory: name)
            return type.map { .type(zone, $0) } ?? .impossible
        case .type(let type): return plain(of: name, in: type)
        case .scratch(let id):
            return .scratch(ScratchPlace(directory: .scratch(id), name: name))
        case .control(let path): return .control(path, name)
        case .readme, .record, .asset, .errorFile, .share: return .impossible
        }
    }

    private static func isFileName(_ name: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        return !name.isEmpty && name != [dot] && name != [dot, dot] && !name.contains(0)
            && !name.contains(UInt8(ascii: "/"))
    }

    /// Returns whether the name is `.Trash-UID`, where desktops and trash-put keep the files that
    /// they delete on a file system.
    private static func isTrashName(_ name: [UInt8]) -> Bool {
        let user = name.dropFirst(".Trash-".utf8.count)
        return name.starts(with: ".Trash-".utf8) && !user.isEmpty && user.count <= 10
            && user.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private static func rootMeaning(of name: [UInt8]) -> NameMeaning {
        if name == controlName { return .fixed(.control(.root)) }
        if name == Readme.name { return .fixed(.readme) }
        if isTrashName(name) {
            return .scratch(ScratchPlace(directory: .root, name: name))
        }
        let database = Database(name: String(decoding: name, as: UTF8.self))
        return database.map { .database($0) } ?? .impossible
    }

    private static func plain(of name: [UInt8], in type: TypeID) -> NameMeaning {
        if name == errorName { return .errorFile(type) }
        switch EntryName(classifying: name) {
        case .record(let stem): return .record(type, stem)
        case .asset(let stem, let field, let index, let fileExtension):
            return .asset(
                FieldFile(
                    type: type, stem: stem, field: field, index: index,
                    fileExtension: fileExtension))
        case .scratch(let name):
            return .scratch(ScratchPlace(directory: .type(type), name: name))
        }
    }

    static func checkLength(_ name: [UInt8]) throws(RecordError) {
        if name.count > 255 {
            throw RecordError(.nameTooLong, "a file name has at most 255 bytes")
        }
    }

    /// Returns whether files with such a name may be added, removed and changed without a call of
    /// the kernel.
    static func isShareName(_ name: [UInt8], in parent: Node) -> Bool {
        // This is called for every lookup. The first byte already excludes most names.
        guard name.first == UInt8(ascii: "."),
            case .scratch(let place) = plain(of: name, in: parent)
        else { return false }
        return place.isOfShare || place.isErrorOfShare
    }
}
