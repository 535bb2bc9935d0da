package import RecordModel

/// The field names of a source's keys: a key that no field can have is mended, `First name` to
/// `First_name`.
package struct FieldNaming: Sendable {
    /// The keys that are mended with their new names, in the order of the source.
    package private(set) var mended: [(key: Text, name: Text)] = []
    private var names: [Text: Text] = [:]

    package init() {}

    /// For all keys of a source; two keys never get one name.
    init(_ keys: [Text]) {
        var taken = Set(keys.filter(Self.isKept))
        for key in keys where !Self.isKept(key) {
            let base = Self.mend(key.utf8)
            var name = Text(utf8: base)
            var number = 2
            while !taken.insert(name).inserted {
                name = Text(utf8: base.prefix(240) + Array("_\(number)".utf8))
                number += 1
            }
            names[key] = name
            mended.append((key, name))
        }
    }

    package func name(of key: Text) -> Text { names.isEmpty ? key : names[key] ?? key }

    /// The key that became this name.
    func key(of name: Text) -> Text {
        mended.first { $0.name == name }?.key ?? name
    }

    func apply(to members: [JSONMember]) -> [JSONMember] {
        guard !names.isEmpty else { return members }
        return members.map { JSONMember(key: name(of: $0.key), value: $0.value) }
    }

    /// Keys with `$` are the store's own, or refused by it.
    private static func isKept(_ key: Text) -> Bool {
        key.utf8.first == UInt8(ascii: "$") || FieldName(bytes: key.utf8).isValid
    }

    private static func mend(_ key: [UInt8]) -> [UInt8] {
        var bytes = key[...]
        while bytes.first == 0x20 { bytes.removeFirst() }
        while bytes.last == 0x20 { bytes.removeLast() }
        var name = bytes.prefix(240).map { byte -> UInt8 in
            let scalar = Unicode.Scalar(byte)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            return isLetter || ("0"..."9").contains(scalar) ? byte : UInt8(ascii: "_")
        }
        guard let first = name.first else { return Array("field".utf8) }
        if first < UInt8(ascii: "A") || first == UInt8(ascii: "_") {
            name = Array("f_".utf8) + name
        }
        return name
    }
}
