import Glibc
import Testing

extension MountTests {
    /// Times that `utimensat` takes, whatever they are.
    @Suite struct TimeTests {
        private static let extremes: [(Int, Int)] = [
            (-9_223_372_037, 145_224_192), (-9_223_372_037, 0), (-9_223_372_038, 999_999_999),
            (9_223_372_036, 854_775_807), (9_223_372_036, 854_775_808), (9_223_372_037, 0),
            (-1, 999_999_999), (0, 0), (253_402_300_800, 1), (Int.max, 999_999_999), (Int.min, 0),
        ]

        @Test("any time of a file is kept or clamped, and the next mount lists it all the same")
        func everyKind() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType("private/Box/Note")
            let names = ["r.json", "scratch", "r@photo.jpg"]
            try SystemCall.writeFile("\(folder)/r.json", "{\"n\": 1}")
            try SystemCall.writeFile("\(folder)/scratch", "text")
            try SystemCall.writeFile("\(folder)/r@photo.jpg", "bytes")
            for (seconds, nanoseconds) in Self.extremes {
                for name in names + [""] {
                    try SystemCall.setModified(
                        "\(folder)/\(name)", seconds: seconds, nanoseconds: nanoseconds)
                    try checkTime("\(folder)/\(name)", seconds, nanoseconds)
                }
                try mounted.remount()
                let listing = try succeed("ls", "-l", folder)
                #expect(names.allSatisfy { listing.contains($0) }, "\(listing)")
                try checkTime("\(folder)/r.json", seconds, nanoseconds)
            }
            let text = try SystemCall.readText(
                "\(mounted.mountPoint)/.recordfs/meta/private/Box/Note/r.json")
            #expect(text.contains("\"modified\""))
            try mounted.recordfs("ls", "-l", "private/Box/Note")
        }

        /// Records keep 1677 to 2262 and clamp the rest; other files are clamped by the host.
        private func checkTime(_ path: String, _ seconds: Int, _ nanoseconds: Int) throws {
            guard path.hasSuffix("r.json") else { return }
            let time = try SystemCall.status(path).modified
            let isInRange = (-9_223_372_036...9_223_372_035).contains(seconds)
            if isInRange {
                #expect(time == [seconds, nanoseconds])
            } else {
                #expect(time[0] == (seconds < 0 ? -9_223_372_037 : 9_223_372_036))
            }
        }

        @Test(
            "touch -d with the first time that 64 bits of nanoseconds do not hold keeps the mount")
        func touch() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType("private/Box/Note")
            for time in ["@9223372037", "@-9223372037", "@-9223372036.854775808", "@9223372036.9"] {
                try succeed("touch", "-d", time, "\(folder)/x.json")
                try succeed("ls", "-l", folder)
            }
            #expect(mounted.isAlive)
        }
    }
}
