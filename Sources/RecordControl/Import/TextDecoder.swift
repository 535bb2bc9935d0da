import Glibc
import RecordModel

/// Converts text of another encoding to UTF-8, piece by piece, with the C library's tables.
final class TextDecoder {
    private static let outputLength = 64 << 10
    /// A length that no character of any encoding reaches.
    private static let longestCharacter = 16

    private let name: String
    private let converter: iconv_t
    private var rest: [UInt8] = []
    private var line = 1

    /// Opens the converter.
    ///
    /// Errors: `invalidArgument` for an encoding that this machine does not know.
    init(encoding: String) throws(RecordError) {
        name = encoding
        // The value that iconv returns for an unknown name: -1 as a pointer.
        let unknown = iconv_t(bitPattern: -1)
        guard let converter = iconv_open("UTF-8", encoding), converter != unknown else {
            throw RecordError(
                .invalidArgument,
                "the encoding \"\(encoding)\" is not known here. `iconv -l` lists the names; "
                    + "latin1, windows-1252 and utf-16 are usual ones.")
        }
        self.converter = converter
    }

    deinit { iconv_close(converter) }

    /// Returns the text of the next bytes. An incomplete character waits for the bytes after it.
    ///
    /// Errors: `invalidArgument` with the line where the bytes are no text.
    func decode(_ bytes: [UInt8]) throws(RecordError) -> [UInt8] {
        var input = rest + bytes
        var text: [UInt8] = []
        var used = 0
        while used < input.count {
            let (consumed, produced, code) = convert(&input, from: used)
            used += consumed
            line += produced.count(where: { $0 == 0x0A })
            text += produced
            if code == EILSEQ { throw failure("has bytes that are no text in \(name)") }
            if code == EINVAL { break }
        }
        rest = Array(input[used...])
        if rest.count > Self.longestCharacter {
            throw failure("has bytes that are no text in \(name)")
        }
        return text
    }

    /// Ends the text.
    ///
    /// Errors: `invalidArgument` when the text ends inside a character.
    func finish() throws(RecordError) {
        guard rest.isEmpty else { throw failure("ends inside a character of \(name)") }
    }

    private func convert(
        _ input: inout [UInt8], from start: Int
    ) -> (consumed: Int, produced: [UInt8], code: Int32) {
        var code: Int32 = 0
        var consumed = 0
        let produced = [UInt8](unsafeUninitializedCapacity: Self.outputLength) { output, count in
            input.withUnsafeMutableBytes { bytes in
                var from = bytes.baseAddress?.advanced(by: start)
                    .assumingMemoryBound(to: CChar.self)
                var fromLeft = bytes.count - start
                output.withMemoryRebound(to: CChar.self) { output in
                    var into = output.baseAddress
                    var intoLeft = output.count
                    if iconv(converter, &from, &fromLeft, &into, &intoLeft) == -1 { code = errno }
                    count = output.count - intoLeft
                }
                consumed = bytes.count - start - fromLeft
            }
        }
        return (consumed, produced, code)
    }

    private func failure(_ what: String) -> RecordError {
        RecordError(.invalidArgument, "line \(line) \(what). Try another --encoding.")
    }
}
