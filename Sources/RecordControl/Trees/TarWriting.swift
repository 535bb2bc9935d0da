import RecordModel

/// Writes a tar archive in the form that `tar` reads: POSIX headers, with a pax header before a
/// long path.
final class TarWriting: TreeOutput {
    private static let block = 512

    private let file: FileWriting

    /// Opens the archive.
    ///
    /// Errors: as `FileWriting`.
    init(path: String) throws(RecordError) {
        file = try FileWriting(path: path)
    }

    func directory(_ path: [UInt8]) throws(RecordError) {
        try header(path + [UInt8(ascii: "/")], size: 0, modified: nil, kind: UInt8(ascii: "5"))
    }

    func file(_ path: [UInt8], _ bytes: [UInt8], _ modified: Timestamp) throws(RecordError) {
        try header(path, size: bytes.count, modified: modified, kind: UInt8(ascii: "0"))
        try file.write(bytes)
        try pad(bytes.count)
    }

    func file(
        _ path: [UInt8], copyOf source: String, size: Int, _ modified: Timestamp
    ) throws(RecordError) {
        let input = try FileReading(path: source)
        try header(path, size: size, modified: modified, kind: UInt8(ascii: "0"))
        var left = size
        while left > 0 {
            let chunk = try input.chunk()
            guard !chunk.isEmpty, chunk.count <= left else {
                throw RecordError(.ioFailure, "\(source) has another size than the store says.")
            }
            try file.write(chunk)
            left -= chunk.count
        }
        try pad(size)
    }

    func finish() throws(RecordError) {
        try file.write([UInt8](repeating: 0, count: Self.block * 2))
        try file.finish()
    }

    private func pad(_ size: Int) throws(RecordError) {
        let rest = size % Self.block
        if rest > 0 { try file.write([UInt8](repeating: 0, count: Self.block - rest)) }
    }

    private func header(
        _ path: [UInt8], size: Int, modified: Timestamp?, kind: UInt8
    ) throws(RecordError) {
        if path.count > 100 {
            let record = Self.paxRecord("path", path)
            try file.write(Self.header(Array("pax".utf8), record.count, 0, UInt8(ascii: "x")))
            try file.write(record)
            try pad(record.count)
        }
        let seconds = modified.map { max(0, $0.milliseconds / 1000) } ?? 0
        try file.write(Self.header(Array(path.prefix(100)), size, seconds, kind))
    }

    /// Returns `LENGTH KEY=VALUE\n`, where the length counts its own digits.
    private static func paxRecord(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(key)=".utf8) + value + [0x0A]
        var length = rest.count
        while String(length).utf8.count + rest.count != length {
            length = String(length).utf8.count + rest.count
        }
        return Array(String(length).utf8) + rest
    }

    private static func header(
        _ path: [UInt8], _ size: Int, _ seconds: Int64, _ kind: UInt8
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: block)
        func put(_ text: [UInt8], at offset: Int) {
            for (index, byte) in text.enumerated() { bytes[offset + index] = byte }
        }
        put(path, at: 0)
        put(Array((kind == UInt8(ascii: "5") ? "0000755" : "0000644").utf8), at: 100)
        put(Array("0000000".utf8), at: 108)
        put(Array("0000000".utf8), at: 116)
        put(number(Int64(size)), at: 124)
        put(number(seconds), at: 136)
        put(Array("        ".utf8), at: 148)
        bytes[156] = kind
        put(Array("ustar".utf8) + [0] + Array("00".utf8), at: 257)
        let sum = bytes.reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        put(Array(String(repeating: "0", count: max(0, 6 - digits.utf8.count)).utf8), at: 148)
        put(Array(digits.utf8), at: 148 + max(0, 6 - digits.utf8.count))
        bytes[154] = 0
        bytes[155] = 0x20
        return bytes
    }

    /// Returns eleven octal digits. For a larger number, returns twelve bytes with the highest bit
    /// set.
    private static func number(_ value: Int64) -> [UInt8] {
        let digits = String(value, radix: 8)
        if digits.utf8.count <= 11 {
            return Array((String(repeating: "0", count: 11 - digits.utf8.count) + digits).utf8)
        }
        var bytes = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 { bytes[11 - index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        bytes[0] = 0x80
        return bytes
    }
}
