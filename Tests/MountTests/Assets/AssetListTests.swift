import CTestSystem
import Foundation
import Glibc
import Testing

extension MountTests {
    /// Lists of assets that change while their files are cached and open.
    @Suite struct AssetListTests {
        private static let type = "private/Kitchen/Recipe"

        /// A record with four elements of different sizes, all read and open.
        private final class Bench {
            let mounted: MountedStore
            let folder: String
            var readers: [(descriptor: Int32, bytes: [UInt8])] = []

            init() throws {
                mounted = try MountedStore()
                folder = try mounted.makeType(AssetListTests.type)
                try SystemCall.writeFile("\(folder)/a.json", "{\n  \"title\": \"Soup\"\n}\n")
                for index in 0..<4 {
                    try SystemCall.writeFile(file(index), Self.content(index))
                }
                try openAll(4)
            }

            deinit { for reader in readers { close(reader.descriptor) } }

            func file(_ index: Int) -> String { "\(folder)/a@pages.\(index).bin" }

            static func content(_ seed: Int) -> [UInt8] {
                (0..<(20_000 + 7_001 * seed)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) }
            }

            /// Brings the elements into the kernel's cache and keeps them open.
            func openAll(_ count: Int) throws {
                for index in 0..<count {
                    let bytes = try SystemCall.readFile(file(index))
                    readers.append((try SystemCall.open(file(index), O_RDONLY), bytes))
                }
            }

            /// Every file is what the store says, at once, and every reader has what it opened.
            func expectTruth(_ what: String) throws {
                let rows = try mounted.store.rows(
                    "SELECT idx, hash FROM asset WHERE hash IS NOT NULL ORDER BY idx")
                for row in rows {
                    let index = try #require(row["idx"] as? Int)
                    let hash = try #require(row["hash"] as? String)
                    let stored = try SystemCall.readFile(
                        "\(mounted.state)/assets/\(hash.prefix(2))/\(hash)")
                    #expect(
                        try SystemCall.status(file(index)).size == stored.count,
                        "\(what): size of \(index)")
                    let shown = try SystemCall.readFile(file(index))
                    #expect(shown == stored, "\(what): bytes of \(index)")
                }
                let names = rows.compactMap { $0["idx"] as? Int }.map { "a@pages.\($0).bin" }
                #expect(try SystemCall.list(folder).sorted() == ["a.json"] + names, "\(what)")
                for (number, reader) in readers.enumerated() {
                    let bytes = try SystemCall.read(reader.descriptor, count: 1 << 20, at: 0)
                    #expect(bytes == reader.bytes, "\(what): reader \(number)")
                    var status = stat()
                    #expect(fstat(reader.descriptor, &status) == 0, "\(what): reader \(number)")
                    #expect(Int(status.st_size) == reader.bytes.count, "\(what): reader \(number)")
                }
            }

            func text(_ elements: [Int]) -> String {
                let list = elements.map { "{\"$asset\": \"a@pages.\($0).bin\"}" }
                return "{\"title\": \"Soup\", \"pages\": [\(list.joined(separator: ", "))]}\n"
            }
        }

        @Test("after a removal every element has its own bytes at once")
        func removal() throws {
            let bench = try Bench()
            for count in stride(from: 3, to: 0, by: -1) {
                try SystemCall.unlink(bench.file(0))
                try bench.expectTruth("\(count) left")
                try bench.openAll(count)
            }
        }

        @Test(
            "after an edit of the text every element has its own bytes at once",
            arguments: [
                [3, 2, 1, 0], [1, 2, 3, 0], [2, 0], [0, 0, 1],
            ])
        func edit(_ order: [Int]) throws {
            let bench = try Bench()
            try SystemCall.writeFile("\(bench.folder)/a.json", bench.text(order))
            try bench.expectTruth("written in place")
            try bench.openAll(order.count)
            try SystemCall.writeFile(
                "\(bench.folder)/new.tmp", bench.text(Array(0..<order.count).reversed()))
            try SystemCall.rename("\(bench.folder)/new.tmp", "\(bench.folder)/a.json")
            try bench.expectTruth("by rename")
        }

        @Test("after a replacement from anywhere every element has its own bytes at once")
        func replacement() throws {
            let bench = try Bench()
            try SystemCall.writeFile("\(bench.folder)/new.tmp", Bench.content(9))
            try SystemCall.rename("\(bench.folder)/new.tmp", bench.file(1))
            try bench.expectTruth("by rename")
            try bench.openAll(4)
            let source = "\(bench.mounted.outside)/new.bin"
            try SystemCall.writeFile(source, Bench.content(11))
            try bench.mounted.recordfs("put", "\(AssetListTests.type)/a@pages.2.bin", source)
            try bench.expectTruth("by put")
            try bench.openAll(4)
            let first = try #require(
                try bench.mounted.store.rows("SELECT min(token) + 4 AS token FROM history")
                    .first?["token"] as? Int)
            try bench.mounted.recordfs(
                "restore", "--token", "\(first)", "\(AssetListTests.type)/a.json")
            try bench.expectTruth("by restore")
            #expect(try SystemCall.readFile(bench.file(1)) == Bench.content(1))
        }

        @Test("the record has an asset's new hash when the asset's close returns")
        func hashAtClose() throws {
            let bench = try Bench()
            let record = "\(bench.folder)/a.json"
            for round in 0..<50 {
                _ = try SystemCall.readText(record)
                try SystemCall.writeFile(bench.file(round % 4), Bench.content(20 + round))
                let text = try SystemCall.readText(record)
                let hash = try #require(
                    try bench.mounted.store.rows(
                        "SELECT hash FROM asset WHERE idx = \(round % 4)"
                    ).first?["hash"] as? String)
                #expect(text.contains(hash), "round \(round)")
                #expect(try SystemCall.status(record).size == text.utf8.count, "round \(round)")
            }
        }

        @Test("rm -rf takes assets whose record never came")
        func lone() throws {
            let bench = try Bench()
            let other = try bench.mounted.makeType("private/Kitchen/Lone")
            try SystemCall.writeFile("\(other)/lone@photo.jpg", "bytes")
            #expect(!SystemCall.exists("\(other)/lone.json"))
            #expect(try SystemCall.readText("\(other)/lone@photo.jpg") == "bytes")
            #expect(throws: SystemCallError.self, "it is not empty") {
                try SystemCall.removeDirectory(other)
            }
            // With -f, for `.error` goes with the last asset, when rm has read the directory.
            try succeed("rm", "-rf", other)
            #expect(!SystemCall.exists(other))
        }
    }
}
