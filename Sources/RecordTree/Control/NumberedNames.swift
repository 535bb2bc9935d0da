import RecordModel

/// Names for things of which several have one stem: deleted records in the trash of a type, and
/// matches of a search in several types of a zone.
///
/// One of them has the plain name, `soup.json`. Each has one of its own as well, which never stands
/// for another: `soup@17.json`, with the number of its row. No stem holds an `@`, so that the two
/// kinds cannot meet. A listing gives the second to all but the first.
enum NumberedName {
    private static let sign = UInt8(ascii: "@")

    /// What a name in such a directory asks for.
    case plain(Stem)
    case numbered(Int64)

    /// Nil for a name that nothing there can have.
    init?(_ name: [UInt8]) {
        guard name.count > 5, name.suffix(5).elementsEqual(".json".utf8) else { return nil }
        let stem = name.dropLast(5)
        guard let start = stem.lastIndex(of: Self.sign) else {
            self = .plain(Stem(bytes: Array(stem)))
            return
        }
        guard let number = Int64(String(decoding: stem[(start + 1)...], as: UTF8.self)) else {
            return nil
        }
        self = .numbered(number)
    }

    static func make(_ stem: Stem, _ number: Int64) -> [UInt8] {
        let end = [sign] + Array("\(number).json".utf8)
        // A stem can fill a directory entry by itself; the number alone says which it is.
        return Array(stem.bytes.prefix(255 - end.count)) + end
    }
}
