import RecordModel

/// Names for things that may share a stem: deleted records in the trash of a type, matches of a
/// search in several types of a zone, and conflicts, whose names have no extension.
///
/// One of them has the plain name, `soup.json`. Each of them also has its own name, which never
/// means another one: `soup@17.json`, with the number of its row. No stem contains an `@`, so that
/// the two kinds never collide. A listing shows the numbered name for all but the first.
enum NumberedName {
    private static let sign = UInt8(ascii: "@")

    /// The plain name.
    case plain(Stem)
    case numbered(Int64)

    /// Reads a name. Nil for a name that nothing in such a directory can have.
    init?(_ name: [UInt8], extension ending: String = ".json") {
        guard name.count > ending.utf8.count,
            name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
        else { return nil }
        let stem = name.dropLast(ending.utf8.count)
        guard let start = stem.lastIndex(of: Self.sign) else {
            self = .plain(Stem(bytes: Array(stem)))
            return
        }
        guard let number = Int64(String(decoding: stem[(start + 1)...], as: UTF8.self)) else {
            return nil
        }
        self = .numbered(number)
    }

    static func make(_ stem: Stem, _ number: Int64, extension ending: String = ".json") -> [UInt8] {
        let end = [sign] + Array("\(number)\(ending)".utf8)
        // A stem can fill a directory entry by itself; the number alone identifies the entry.
        return Array(stem.bytes.prefix(255 - end.count)) + end
    }
}
