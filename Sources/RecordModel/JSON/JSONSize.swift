/// The memory that the values of a JSON text take. It is many times the text when the values are
/// small. It is known before the text is read into values.
package enum JSONSize {
    /// A value in an array or as a member, with its key's reference and some room to grow.
    private static let valueBytes = 24
    /// The storage of an array, an object, or a string.
    private static let storageBytes = 48

    /// Returns an upper estimate in bytes. The number has no meaning for a text that is no JSON.
    package static func estimate(_ text: [UInt8]) -> Int {
        var values = 1
        var storages = 0
        text.withUnsafeBufferPointer { text in
            var at = 0
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: ","), UInt8(ascii: ":"): values += 1
                case UInt8(ascii: "["), UInt8(ascii: "{"):
                    values += 1
                    storages += 1
                case UInt8(ascii: "\""):
                    storages += 1
                    at = end(ofString: at, in: text)
                default: break
                }
                at += 1
            }
        }
        return text.count + values * valueBytes + storages * storageBytes
    }

    /// Returns the number of commas in a list from `start`, which is after one of its values, to
    /// its end.
    static func countValues(_ text: [UInt8], from start: Int) -> Int {
        text.withUnsafeBufferPointer { text in
            var count = 0
            var depth = 0
            var at = start
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"):
                    depth -= 1
                    if depth < 0 { return count }
                case UInt8(ascii: ","): if depth == 0 { count += 1 }
                case UInt8(ascii: "\""): at = end(ofString: at, in: text)
                default: break
                }
                at += 1
            }
            return count
        }
    }

    /// Returns the place of the closing quote, or the end of the text.
    private static func end(ofString start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        var at = start + 1
        while at < text.count, text[at] != UInt8(ascii: "\"") {
            at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return at
    }
}
