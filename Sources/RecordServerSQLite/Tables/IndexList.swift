import RecordModel

/// The index entries of one record as one value, so that they can be found when they are replaced:
/// the number of the type, then field, kind and key of each.
struct IndexList {
    struct Entry: Hashable {
        let field: Int64
        let kind: Int64
        let key: [UInt8]
    }

    let type: Int64
    var entries: [Entry]

    init(type: Int64, entries: [Entry] = []) {
        self.type = type
        self.entries = entries
    }

    /// Reads the bytes. Returns nil for bytes that `bytes` did not make.
    init?(_ bytes: [UInt8]) {
        var reader = PackedReader(bytes)
        guard let type = reader.number() else { return nil }
        self.init(type: type)
        while !reader.isAtEnd {
            guard let field = reader.number(), let kind = reader.number(), let key = reader.bytes()
            else { return nil }
            entries.append(Entry(field: field, kind: kind, key: key))
        }
    }

    var bytes: [UInt8] {
        var packed: [UInt8] = []
        packed.reserveCapacity(8 + entries.reduce(0) { $0 + $1.key.count + 6 })
        Packed.append(type, to: &packed)
        for entry in entries {
            Packed.append(entry.field, to: &packed)
            Packed.append(entry.kind, to: &packed)
            Packed.append(entry.key, to: &packed)
        }
        return packed
    }
}

/// Numbers in groups of seven bits, the lowest first, and byte strings after their length.
enum Packed {
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    static func append(_ string: [UInt8], to bytes: inout [UInt8]) {
        append(Int64(string.count), to: &bytes)
        bytes += string
    }

    static func names(_ names: [RecordName]) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names { append(name.bytes, to: &bytes) }
        return bytes
    }

    static func names(_ bytes: [UInt8]) -> [RecordName]? {
        var reader = PackedReader(bytes)
        var names: [RecordName] = []
        while !reader.isAtEnd {
            guard let name = reader.bytes() else { return nil }
            names.append(RecordName(bytes: name))
        }
        return names
    }
}

struct PackedReader {
    private let packed: [UInt8]
    private var place = 0

    init(_ packed: [UInt8]) { self.packed = packed }

    var isAtEnd: Bool { place == packed.count }

    mutating func number() -> Int64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard place < packed.count else { return nil }
            let byte = packed[place]
            place += 1
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: number) }
        }
        return nil
    }

    mutating func bytes() -> [UInt8]? {
        guard let count = number(), count >= 0, count <= packed.count - place else { return nil }
        defer { place += Int(count) }
        return Array(packed[place..<place + Int(count)])
    }
}
