import Glibc
import RecordModel

/// Unpacks the directories and files of a tar archive. Links and devices are left out.
struct TarReading {
    private static let block = 512

    private let input: FileReading
    private var buffer: [UInt8] = []
    private var at = 0

    init(path: String) throws(RecordError) {
        input = try FileReading(path: path)
    }

    /// Unpacks the archive.
    ///
    /// Errors: `invalidArgument` when it is no tar archive; those of the files.
    mutating func unpack(into directory: String) throws(RecordError) {
        var longPath: [UInt8]?
        var hasBegun = false
        while let header = try bytes(Self.block) {
            if header.allSatisfy({ $0 == 0 }) { return }
            guard Self.isSound(header), let size = Self.number(header[124..<136]), size >= 0 else {
                throw Self.noArchive
            }
            hasBegun = true
            var path = longPath ?? Self.path(of: header)
            longPath = nil
            switch header[156] {
            case UInt8(ascii: "x"), UInt8(ascii: "L"):
                guard size <= 1 << 20, let content = try bytes(size) else { throw Self.noArchive }
                longPath =
                    header[156] == UInt8(ascii: "x")
                    ? Self.paxPath(content) : Array(content.prefix { $0 != 0 })
                try skip(Self.padding(size))
            case UInt8(ascii: "5"):
                while path.last == UInt8(ascii: "/") { path.removeLast() }
                let place = try Self.place(path, directory)
                guard mkdir(place, 0o700) == 0 || errno == EEXIST else {
                    throw FileReading.failure(place, errno)
                }
                try skip(size + Self.padding(size))
            case UInt8(ascii: "0"), 0:
                try unpackFile(try Self.place(path, directory), size)
                try skip(Self.padding(size))
            default: try skip(size + Self.padding(size))
            }
        }
        guard hasBegun else { throw Self.noArchive }
        throw RecordError(.invalidArgument, "the archive ends too early: it was cut off.")
    }

    private static let noArchive = RecordError(
        .invalidArgument, "it is no tar archive. Decompress it first, or unpack it.")

    private mutating func unpackFile(_ place: String, _ size: Int) throws(RecordError) {
        let file = try FileWriting(path: place, mode: 0o600)
        var left = size
        while left > 0 {
            guard let chunk = try bytes(min(left, 1 << 18)) else {
                throw RecordError(.invalidArgument, "the archive ends inside a file.")
            }
            try file.write(chunk)
            left -= chunk.count
        }
        try file.finish()
    }

    /// Returns the next bytes. Returns nil when there are fewer.
    private mutating func bytes(_ count: Int) throws(RecordError) -> [UInt8]? {
        while buffer.count - at < count {
            buffer.removeFirst(at)
            at = 0
            let chunk = try input.chunk()
            if chunk.isEmpty { return nil }
            buffer += chunk
        }
        defer { at += count }
        return Array(buffer[at..<(at + count)])
    }

    private mutating func skip(_ count: Int) throws(RecordError) {
        var left = count
        while left > 0 {
            guard let chunk = try bytes(min(left, 1 << 18)) else { throw Self.noArchive }
            left -= chunk.count
        }
    }

    private static func padding(_ size: Int) -> Int { (block - size % block) % block }

    private static func isSound(_ header: [UInt8]) -> Bool {
        guard let told = number(header[148..<156]) else { return false }
        let sum = header.enumerated().reduce(0) {
            $0 + ((148..<156).contains($1.offset) ? 0x20 : Int($1.element))
        }
        return sum == told
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if field.first == 0x80 {
            var value = 0
            for byte in field.dropFirst() {
                guard value < 1 << 54 else { return nil }
                value = value << 8 | Int(byte)
            }
            return value
        }
        let digits = field.filter { $0 != 0 && $0 != 0x20 }
        return digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    private static func path(of header: [UInt8]) -> [UInt8] {
        let name = Array(header[0..<100].prefix { $0 != 0 })
        let isUstar = header[257..<262].elementsEqual("ustar".utf8)
        let prefix = Array(header[345..<500].prefix { $0 != 0 })
        return isUstar && !prefix.isEmpty ? prefix + [UInt8(ascii: "/")] + name : name
    }

    private static func paxPath(_ content: [UInt8]) -> [UInt8]? {
        var at = 0
        while at < content.count {
            let digits = content[at...].prefix { (0x30...0x39).contains($0) }
            guard let length = Int(String(decoding: digits, as: UTF8.self)),
                length > digits.count + 1, length <= content.count - at
            else { return nil }
            let record = content[(at + digits.count + 1)..<(at + length - 1)]
            if record.starts(with: "path=".utf8) { return Array(record.dropFirst(5)) }
            at += length
        }
        return nil
    }

    /// Returns the place of a path.
    ///
    /// Errors: `invalidArgument` for a path that leads out of the directory.
    private static func place(_ path: [UInt8], _ directory: String) throws(RecordError) -> String {
        let parts = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        guard !path.contains(0), !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
            throw RecordError(.invalidArgument, "the archive has a path that leads out of it.")
        }
        var place = directory
        for part in parts.dropLast() {
            place += "/" + String(decoding: part, as: UTF8.self)
            if mkdir(place, 0o700) != 0, errno != EEXIST { throw FileReading.failure(place, errno) }
        }
        return parts.last.map { place + "/" + String(decoding: $0, as: UTF8.self) } ?? place
    }
}
