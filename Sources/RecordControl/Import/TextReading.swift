import Glibc
import RecordModel

/// Reads a file as UTF-8 text in pieces, without a byte order mark.
///
/// UTF-16 and UTF-32 are recognised by their marks. Any other encoding must be named.
final class TextReading {
    private let file: FileReading
    private let checksUTF8: Bool
    private let encoding: String?
    private var decoder: TextDecoder?
    private var hasBegun = false
    /// The bytes of an incomplete character.
    private var rest: [UInt8] = []
    private var line = 1

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - encoding: a name that iconv knows. Nil means UTF-8, or the encoding of the file's mark.
    ///   - checksUTF8: true for readers that do not check the text themselves.
    /// Errors: `notFound`, `accessDenied`, `isDirectory`, `ioFailure`.
    init(path: String, encoding: String?, checksUTF8: Bool) throws(RecordError) {
        file = try FileReading(path: path)
        self.encoding = encoding
        self.checksUTF8 = checksUTF8
    }

    /// Returns the next bytes of text. They are empty at the end.
    ///
    /// Errors: `invalidArgument` with the line that is not in the encoding; `ioFailure`.
    func chunk() throws(RecordError) -> [UInt8] {
        if !hasBegun { return try begin() }
        return try text(of: try file.chunk())
    }

    private func begin() throws(RecordError) -> [UInt8] {
        hasBegun = true
        var bytes = try file.chunk()
        while bytes.count < 4 {
            let more = try file.chunk()
            if more.isEmpty { break }
            bytes += more
        }
        let mark = Mark(bytes)
        if let name = encoding ?? mark?.encoding, !Self.isUTF8(name) {
            decoder = try TextDecoder(encoding: name)
        }
        // The plain name UTF-16 leaves the byte order to the mark.
        if let mark, mark.fits(encoding) { bytes.removeFirst(mark.length) }
        if bytes.isEmpty { return [] }
        if decoder == nil, checksUTF8, bytes.prefix(4).contains(0) {
            throw RecordError(
                .invalidArgument,
                "line 1 has NUL bytes: this looks like UTF-16. Say so with --encoding utf-16le "
                    + "or utf-16be.")
        }
        return try text(of: bytes)
    }

    private func text(of bytes: [UInt8]) throws(RecordError) -> [UInt8] {
        var bytes = bytes
        // An empty answer means the end. A piece may hold only a part of one character.
        while true {
            let isAtEnd = bytes.isEmpty
            let text = try decoded(bytes, isAtEnd: isAtEnd)
            if isAtEnd || !text.isEmpty { return text }
            bytes = try file.chunk()
        }
    }

    private func decoded(_ bytes: [UInt8], isAtEnd: Bool) throws(RecordError) -> [UInt8] {
        if let decoder {
            if isAtEnd { try decoder.finish() }
            return try decoder.decode(bytes)
        }
        return checksUTF8 ? try checked(bytes, isAtEnd: isAtEnd) : bytes
    }

    private func checked(_ bytes: [UInt8], isAtEnd: Bool) throws(RecordError) -> [UInt8] {
        var text = rest.isEmpty ? bytes : rest + bytes
        rest = []
        var at = 0
        while at < text.count {
            guard let length = UTF8Sequence.length(in: text, at: at) else { break }
            at += length
        }
        guard at < text.count else {
            line += text.count(where: { $0 == 0x0A })
            return text
        }
        line += text[..<at].count(where: { $0 == 0x0A })
        guard !isAtEnd, text.count - at < 4, Self.isBeginning(text[at...]) else {
            throw notUTF8(text[at])
        }
        rest = Array(text[at...])
        text.removeLast(text.count - at)
        return text
    }

    /// Returns whether more bytes can complete these to a character.
    private static func isBeginning(_ bytes: ArraySlice<UInt8>) -> Bool {
        for tail: [UInt8] in [
            [0x80], [0x80, 0x80], [0x80, 0x80, 0x80], [0xBF], [0xBF, 0x80, 0x80],
        ]
        where UTF8Sequence.isValid(Array(bytes) + tail) {
            return true
        }
        return false
    }

    private func notUTF8(_ byte: UInt8) -> RecordError {
        let hex = String(byte, radix: 16, uppercase: true)
        return RecordError(
            .invalidArgument,
            "line \(line) is not UTF-8: it has the byte 0x\(hex). Name the encoding, such as "
                + "--encoding windows-1252, latin1 or utf-16.")
    }

    fileprivate static func isUTF8(_ name: String) -> Bool {
        ["utf-8", "utf8"].contains(name.lowercased())
    }
}

/// A byte order mark.
private struct Mark {
    let encoding: String
    let length: Int

    init?(_ bytes: [UInt8]) {
        // UTF-32LE begins with the mark of UTF-16LE.
        let known: [(String, [UInt8])] = [
            ("UTF-8", [0xEF, 0xBB, 0xBF]), ("UTF-32LE", [0xFF, 0xFE, 0, 0]),
            ("UTF-32BE", [0, 0, 0xFE, 0xFF]), ("UTF-16LE", [0xFF, 0xFE]),
            ("UTF-16BE", [0xFE, 0xFF]),
        ]
        guard let found = known.first(where: { bytes.starts(with: $0.1) }) else { return nil }
        (encoding, length) = (found.0, found.1.count)
    }

    /// Returns whether the mark may be removed when an encoding is named. `utf-16` leaves the order
    /// of bytes to the mark, so that the decoder must see it.
    func fits(_ named: String?) -> Bool {
        guard let named else { return true }
        let names = [encoding, encoding.filter { $0 != "-" }].map { $0.lowercased() }
        return names.contains(named.lowercased())
    }
}
