import RecordModel
import RecordStore

/// FNV-1a, 64 bits: Swift's own hashes differ from process to process.
private struct InodeHash {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash, folded into the bits that a number has for its row. Never 0, which is not an
    /// inode.
    var row: Int64 { Int64(truncatingIfNeeded: (value ^ value >> 40) & 0xff_ffff_ffff | 1) }

    mutating func add(_ kind: UInt8, _ number: Int64 = 0, _ texts: any Sequence<UInt8>...) {
        add(kind)
        for shift in stride(from: 0, to: 64, by: 8) {
            add(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
        for text in texts {
            for byte in text { add(byte) }
            // No name contains this byte. Therefore "a", "bc" differs from "ab", "c".
            add(0)
        }
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
}

extension ControlPath {
    /// The number of a file with its own row. Nil for the others, whose numbers are counted.
    var arithmeticNumber: NodeNumber? {
        switch self {
        case .trashed(let id): NodeNumber(kind: .trashed, row: id)
        case .version(let token): NodeNumber(kind: .version, row: token)
        case .meta(let record): NodeNumber(kind: .meta, row: record.rawValue)
        default: nil
        }
    }

    /// The inode that `stat` and readdir show. It stays the same after a remount.
    var inode: UInt64 {
        if let number = arithmeticNumber { return number.inode }
        var hash = InodeHash()
        addIdentity(to: &hash)
        return NodeNumber(kind: .control, row: hash.row).inode
    }

    private func addIdentity(to hash: inout InodeHash) {
        switch self {
        case .root: hash.add(1)
        case .status: hash.add(2)
        case .events: hash.add(3)
        case .ctl: hash.add(4)
        case .metrics: hash.add(5)
        case .errors: hash.add(6)
        case .error(let record): hash.add(7, record.rawValue)
        case .schema(let isProduction): hash.add(9, isProduction ? 1 : 0)
        case .section(let section): hash.add(10, 0, section.rawValue.utf8)
        case .database(let section, let database):
            hash.add(11, database.rawValue, section.rawValue.utf8)
        case .owner(let section, let owner): hash.add(12, 0, section.rawValue.utf8, owner.bytes)
        case .zone(let section, let zone): hash.add(13, zone.rawValue, section.rawValue.utf8)
        case .type(let section, let type): hash.add(14, type.rawValue, section.rawValue.utf8)
        case .keptType(let section, let zone, let type):
            hash.add(15, zone.rawValue, section.rawValue.utf8, type.bytes)
        case .export(let type, let format): hash.add(16, type.rawValue, format.rawValue.utf8)
        case .history(let zone, let type, let name):
            hash.add(17, zone.rawValue, type.bytes, name.bytes)
        case .conflict(let id): hash.add(21, id)
        case .conflictFile(let id, let file): hash.add(22, id, file.rawValue.utf8)
        case .results(let set): set.addIdentity(to: &hash)
        case .result(let set, let record):
            hash.add(20, record.rawValue)
            set.addIdentity(to: &hash)
        case .typeSchema(let zone, let type): hash.add(24, zone.rawValue, type.bytes)
        case .rawType(let zone, let type): hash.add(25, zone.rawValue, type.bytes)
        case .raw(let record): hash.add(26, record.rawValue)
        case .model: hash.add(27)
        case .modelText: hash.add(28)
        case .moments: hash.add(29)
        case .past(let token, let place): place.addIdentity(to: &hash, at: token)
        case .pastAsset(let version, let field, let index):
            hash.add(30, version, field.bytes, "\(index)".utf8)
        case .meta, .version, .trashed: break
        }
    }
}

extension NodeNumber {
    /// The number whose inode an owner's directory shows. It stays the same after a remount. The
    /// kernel knows the directory by a counted number.
    init(inodeOf owner: OwnerName) {
        var hash = InodeHash()
        hash.add(23, 0, owner.bytes)
        self.init(kind: .control, row: hash.row)
    }
}

extension ControlPath.ResultSet {
    fileprivate func addIdentity(to hash: inout InodeHash) {
        switch self {
        case .query(let type, let text): hash.add(18, type.rawValue, text)
        case .search(let zone, let words): hash.add(19, zone.rawValue, words)
        }
    }
}

extension ControlPath.PastPlace {
    fileprivate func addIdentity(to hash: inout InodeHash, at token: Int64) {
        switch self {
        case .root: hash.add(31, token)
        case .database(let database): hash.add(32, token, "\(database.rawValue)".utf8)
        case .owner(let owner): hash.add(33, token, owner.bytes)
        case .zone(let zone): hash.add(34, token, "\(zone.rawValue)".utf8)
        case .type(let zone, let type): hash.add(35, token, "\(zone.rawValue)".utf8, type.bytes)
        }
    }
}
