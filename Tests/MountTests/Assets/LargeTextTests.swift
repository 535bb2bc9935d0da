import CTestSystem
import Foundation
import Glibc
import Testing

extension MountTests {
    /// What texts of the largest size cost the daemon in memory, by the kernel's own count.
    @Suite struct LargeTextTests {
        private static let size = 60 << 20

        enum Kind: String, CaseIterable, CustomTestStringConvertible {
            case longString, numbers, nested, spaces, noJSON
            var testDescription: String { rawValue }

            /// The text, and what close answers to it.
            func text(_ seed: Character) -> (pieces: [(String, Int)], code: Int32) {
                let size = LargeTextTests.size
                switch self {
                case .longString: return ([("{\"t\": \"", 1), ("\(seed)", size), ("\"}\n", 1)], 0)
                case .numbers:
                    return ([("{\"t\": [", 1), ("1234567,", size / 24), ("1]}", 1)], EFBIG)
                case .nested:
                    return ([("{\"t\": [", 1), ("{\"a\":\"b\"},", size / 30), ("1]}", 1)], EFBIG)
                case .spaces:
                    return ([("{\"n\": \(seed.asciiValue ?? 0)", 1), (" ", size), ("}", 1)], 0)
                case .noJSON: return ([("{\"t\": [", 1), ("1234567 ", size / 24)], EINVAL)
                }
            }
        }

        @Test(
            "it takes less than 330 MB while a text of 60 MiB is saved, and gives them back",
            arguments: Kind.allCases)
        func memory(_ kind: Kind) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let daemon = try #require(mounted.pid)
            for seed: Character in ["x", "y"] {
                try SystemCall.writeFile("/proc/\(daemon)/clear_refs", "5")
                let (pieces, code) = kind.text(seed)
                #expect(SystemCall.code { try Self.write(pieces, to: "\(folder)/a.json") } == code)
                let peak = try Self.megabytes("VmHWM", of: daemon)
                #expect(peak < 330, "\(peak) MB while the text \(seed) was saved")
                let isSmall = MountTable.wait(
                    seconds: 20,
                    until: { (try? Self.megabytes("VmRSS", of: daemon)) ?? .max < 120 },
                    orUntil: { !mounted.isAlive })
                let left = try Self.megabytes("VmRSS", of: daemon)
                #expect(isSmall, "\(left) MB after \(seed)")
            }
        }

        private static func write(_ pieces: [(String, Int)], to path: String) throws {
            let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC)
            do {
                for (piece, count) in pieces {
                    let block = Array(String(repeating: piece, count: min(count, 1 << 17)).utf8)
                    var left = count * piece.utf8.count
                    while left > 0 {
                        try SystemCall.write(file, Array(block.prefix(left)))
                        left -= min(left, block.count)
                    }
                }
            } catch {
                close(file)
                throw error
            }
            try SystemCall.close(file)
        }

        private static func megabytes(_ key: String, of process: pid_t) throws -> Int {
            let status = try SystemCall.readText("/proc/\(process)/status")
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(key + ":") })
            let kilobytes = line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first
            return try #require(kilobytes.flatMap { Int($0) }) / 1024
        }
    }
}
