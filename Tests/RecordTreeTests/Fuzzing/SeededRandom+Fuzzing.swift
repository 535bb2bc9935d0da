import RecordModel
import TestSupport

/// What a fuzzer draws: a seed is a whole run.
extension SeededRandom {
    mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

    // MARK: Numbers

    private static let edges: [Int64] = [
        0, 1, 2, -1, -2, 127, 128, 255, 256, 4095, 4096, 65_535, 65_536, 65_537,
        1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 40 - 1, 1 << 40, 1 << 56 - 1, 1 << 56,
        1 << 62, .max - 511, .max - 1, .max, .min, .min + 1, -9_223_372_037, 9_223_372_036,
        9_223_372_037, 999_999_999, 1_000_000_000,
    ]

    /// Any offset, size or time that a call can carry, and some that none can.
    mutating func number() -> Int64 {
        switch below(4) {
        case 0: Int64(below(64))
        case 1: Int64(bitPattern: next())
        default: pick(Self.edges)
        }
    }

    /// One that a real file of the host takes without filling a disk, or refuses.
    mutating func hostNumber() -> Int64 {
        chance(2) ? Int64(below(4096)) : pick([-1, .min, 0, 1, 65_537, 1 << 62, .max - 1, .max])
    }

    mutating func count() -> Int { pick([0, 1, 7, 4096, 1 << 20, 1 << 32, .max, -1, .min]) }

    // MARK: Bytes

    mutating func bytes(atMost limit: Int) -> [UInt8] {
        (0..<below(limit + 1)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    private static let names = [
        "a.json", "b.json", "c.json", "a@photo.jpg", "a@text.txt", "a@list.0.jpg", "b@list.1",
        "c@list.999999999.x", "a.json~", ".a.json.swp", "tmp1", "dir", "dir2", ".share.json",
        ".error",
        "README.md", ".recordfs", "private", "local", "shared", "public", "Box", "Note", "Task",
        ".",
        "..", "", "x.json", "%41.json", "a%.json", "%-0123456789abcdef0123456789abcdef.json", "@",
        "a@.json", "a@photo.00.jpg", ".json", "#a.json#", "4913", "events", "ctl", "status.json",
    ]

    /// A name that means something, or any bytes.
    mutating func name() -> [UInt8] {
        switch below(12) {
        case 0: bytes(atMost: 300).map { $0 == 0 || $0 == 0x2F ? 0x61 : $0 }
        case 1: [UInt8](repeating: UInt8(ascii: "n"), count: 245 + below(20)) + ".json".utf8
        default: Array(pick(Self.names).utf8)
        }
    }

    private static let numbers = [
        "0", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e308",
        "1e309",
        "1e-9223372036854775808", "1e9223372036854775807", "1e99999999999999999999", "0.1e-400",
        "123456789012345678901234567890.5", "1E+22", "4.9e-324",
    ]
    private static let dates = [
        "2026-11-20T10:00:00.000Z", "+292278994-08-17T07:12:55.807Z",
        "-292275055-05-16T16:47:04.192Z",
        "-999999999-01-01T00:00Z", "+999999999-12-31T23:59:59.999999999+23:59", "0000-02-30T00:00Z",
        "9999-12-31T23:59:59.999Z", "2026-11-20T10:00:00.1-23:59",
    ]

    /// What somebody may write into a file that should be JSON.
    mutating func text() -> [UInt8] {
        let size = pick(["0", "1", "9223372036854775807", "9223372036854775297", "-1", "1e3"])
        let hash = String(repeating: "ab", count: 32)
        let fields = [
            "\"n\": \(pick(Self.numbers))", "\"d\": {\"$timestamp\": \"\(pick(Self.dates))\"}",
            "\"photo\": {\"$asset\": \"a@photo.jpg\", \"size\": \(size), \"sha256\": \"\(hash)\"}",
            "\"list\": [{\"$asset\": \"a@list.0.jpg\"}, {\"$asset\": \"a@list.1.jpg\", \"size\": \(size)}]",
            "\"text\": \"\(String(repeating: "long ", count: below(500)))\"",
            "\"where\": {\"$location\": {\"latitude\": \(pick(Self.numbers)), \"longitude\": 1}}",
            "\"b\": {\"$bytes\": \"AAEC\"}", "\"j\": \(String(repeating: "[", count: below(90)))",
            "\"$parent\": \"b\"", "\"r\": {\"$ref\": \"b\"}",
        ]
        switch below(8) {
        case 0: return bytes(atMost: 200)
        case 1: return []
        case 2: return Array("{\"n\": \(below(5))}".utf8)
        default:
            let chosen = (0..<(1 + below(3))).map { _ in pick(fields) }
            return Array("{\(chosen.joined(separator: ", "))}".utf8)
        }
    }

    /// A text that every store takes.
    mutating func goodText() -> [UInt8] {
        Array(
            "{\"title\": \"\(next())\", \"pad\": \"\(String(repeating: "x", count: below(300)))\"}"
                .utf8)
    }

    private static let places: [[String]] = [
        ["status.json"], ["events"], ["ctl"], ["metrics"], ["errors"],
        ["schema", "development.ckdb"],
        ["history", "private", "Box", "Note", "a"], ["history", "private", "Box", "Note", "%"],
        ["trash", "private", "Box", "Note", "a.json"],
        ["meta", "private", "Box", "Note", "a.json"],
        ["query", "private", "Box", "Note", "n>9223372036854775808"],
        ["query", "private", "Box", "Note", "n=1e400,sort:-modified"],
        ["query", "private", "Box", "Note", "modified<-999999999-01-01T00:00Z"],
        ["query", "private", "Box", "Note", "title~1"], ["search", "private", "Box", "x OR \""],
        ["search", "private", "Box", "long"], ["export", "private", "Box", "Note.csv"],
        ["export", "private", "Box", "Note.ndjson"], ["conflicts", "private", "Box", "Note"],
    ]

    /// A path below `.recordfs`.
    mutating func controlPath() -> [[UInt8]] {
        let path = pick(Self.places).map { Array($0.utf8) }
        return chance(4) ? path.dropLast() + [name()] : path
    }
}
