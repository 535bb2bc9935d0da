package import RecordModel

/// The field names for a source's keys. A key that no field can have gets another spelling: `First
/// name` becomes `First_name`, `Größe` becomes `Groesse`.
package struct FieldNaming: Sendable {
    /// The keys with another spelling and their new names, in the order of the source.
    package private(set) var mended: [(key: Text, name: Text)] = []
    private var names: [Text: Text] = [:]

    package init() {}

    /// Creates the names for all keys of a source.
    ///
    /// Errors: `invalidArgument` for a key from which no name can be made, and for two keys that
    /// would become one field.
    init(_ keys: [Text]) throws(RecordError) {
        var owners: [Text: Text] = [:]
        for key in keys where Self.isKept(key) { owners[key] = key }
        for key in keys where !Self.isKept(key) {
            let name = try Self.respelled(key)
            if let other = owners[name] {
                throw RecordError(
                    .invalidArgument,
                    "\"\(other)\" and \"\(key)\" would both be the field \(name). Rename one of "
                        + "them in the source.")
            }
            owners[name] = key
            names[key] = name
            mended.append((key, name))
        }
    }

    package func name(of key: Text) -> Text { names.isEmpty ? key : names[key] ?? key }

    /// Returns the key that became this name.
    func key(of name: Text) -> Text {
        mended.first { $0.name == name }?.key ?? name
    }

    /// Returns the fields of a row in the form in which they would be stored.
    package func shown(_ members: [JSONMember]) -> [JSONMember] { apply(to: members) }

    func apply(to members: [JSONMember]) -> [JSONMember] {
        guard !names.isEmpty else { return members }
        return members.map { JSONMember(key: name(of: $0.key), value: $0.value) }
    }

    /// Returns whether the key stays as it is. Keys with `$` are the store's own, or the store
    /// refuses them.
    private static func isKept(_ key: Text) -> Bool {
        key.utf8.first == UInt8(ascii: "$") || FieldName(bytes: key.utf8).isValid
    }

    private static func respelled(_ key: Text) throws(RecordError) -> Text {
        guard let latin = Transliteration.latin(key.string) else {
            throw unusable(key, "has letters that have no Latin spelling")
        }
        var bytes = Array(latin.utf8)[...]
        while bytes.first == 0x20 { bytes.removeFirst() }
        while bytes.last == 0x20 { bytes.removeLast() }
        var name = bytes.map { isLetter($0) || isDigit($0) ? $0 : UInt8(ascii: "_") }
        guard name.contains(where: { $0 != UInt8(ascii: "_") }) else {
            throw unusable(key, "has no letter or digit")
        }
        if let first = name.first, !isLetter(first) { name = Array("f_".utf8) + name }
        guard name.count <= 255 else { throw unusable(key, "is longer than 255 bytes") }
        return Text(utf8: name)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func unusable(_ key: Text, _ problem: String) -> RecordError {
        RecordError(
            .invalidArgument,
            "the field \"\(key)\" \(problem): a field name has Latin letters, digits and _. Rename "
                + "it in the source.")
    }
}

/// Converts Latin letters with marks to letters without.
enum Transliteration {
    /// Returns the converted text. Returns nil when it has a letter of another script. Signs become
    /// `_`.
    static func latin(_ text: String) -> String? {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else if scalar.value == 0x308 {
                // An umlaut that consists of two characters.
                if let last = result.last, "aouAOU".contains(last) { result += "e" }
            } else if (0x300...0x36F).contains(scalar.value) {
                continue
            } else if let letters = letters[scalar] {
                result += letters
            } else if scalar.properties.isAlphabetic {
                return nil
            } else {
                result += "_"
            }
        }
        return result
    }

    private static let letters: [Unicode.Scalar: String] = {
        var letters: [Unicode.Scalar: String] = [:]
        for (plain, marked) in table {
            for scalar in marked.unicodeScalars { letters[scalar] = plain }
        }
        return letters
    }()

    private static let table: [(String, String)] = [
        ("ae", "äæ"), ("oe", "öœ"), ("ue", "ü"), ("Ae", "ÄÆ"), ("Oe", "ÖŒ"), ("Ue", "Ü"),
        ("ss", "ßẞ"), ("aa", "å"), ("Aa", "Å"), ("th", "þ"), ("Th", "Þ"), ("ij", "ĳ"),
        ("a", "àáâãāăąª"), ("A", "ÀÁÂÃĀĂĄ"), ("c", "çćĉċč"), ("C", "ÇĆĈĊČ"),
        ("d", "ðďđ"), ("D", "ÐĎĐ"), ("e", "èéêëēĕėęě"), ("E", "ÈÉÊËĒĔĖĘĚ"),
        ("g", "ĝğġģ"), ("G", "ĜĞĠĢ"), ("h", "ĥħ"), ("H", "ĤĦ"), ("i", "ìíîïĩīĭįı"),
        ("I", "ÌÍÎÏĨĪĬĮİ"), ("j", "ĵ"), ("J", "Ĵ"), ("k", "ķ"), ("K", "Ķ"),
        ("l", "ĺļľŀł"), ("L", "ĹĻĽĿŁ"), ("n", "ñńņňŋ"), ("N", "ÑŃŅŇŊ"),
        ("o", "òóôõøōŏőº"), ("O", "ÒÓÔÕØŌŎŐ"), ("r", "ŕŗř"), ("R", "ŔŖŘ"),
        ("s", "śŝşšș"), ("S", "ŚŜŞŠȘ"), ("t", "ţťŧț"), ("T", "ŢŤŦȚ"),
        ("u", "ùúûũūŭůűų"), ("U", "ÙÚÛŨŪŬŮŰŲ"), ("w", "ŵ"), ("W", "Ŵ"),
        ("y", "ýÿŷ"), ("Y", "ÝŸŶ"), ("z", "źżž"), ("Z", "ŹŻŽ"),
    ]
}
