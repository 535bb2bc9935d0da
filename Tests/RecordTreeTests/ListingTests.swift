import Foundation
import RecordModel
import RecordTree
import Testing

@Suite("Listings")
struct ListingTests {
    @Test("a listing in small parts gives every name once while others come and go")
    func parts() throws {
        let fixture = try TreeFixture()
        for number in 0..<700 { try fixture.put("{\"n\":\(number)}", as: "r\(number).json") }
        try fixture.put("x", as: "scratch1")
        let opened = try fixture.tree.openDirectory(fixture.notes)
        defer { fixture.tree.release(opened.handle) }
        var seen: [String] = []
        var offset: UInt64 = 0
        var round = 0
        while true {
            var taken = 0
            var isFull = false
            try fixture.tree.list(opened.handle, from: offset) { listed in
                guard taken < 7 else {
                    isFull = true
                    return false
                }
                taken += 1
                offset = listed.next
                seen.append(String(decoding: listed.name, as: UTF8.self))
                return true
            }
            round += 1
            if round == 20 {
                try fixture.put("{}", as: "late.json")
                try fixture.remove("r3.json")
                try fixture.remove("r650.json")
            }
            if !isFull { break }
        }
        #expect(Set(seen).count == seen.count, "no name twice")
        let stable = (0..<700).filter { $0 != 3 && $0 != 650 }.map { "r\($0).json" }
        #expect(Set(stable).isSubset(of: seen))
        #expect(seen.contains("scratch1"))
    }

    @Test("a listing can be read again from its start and from any offset")
    func rewind() throws {
        let fixture = try TreeFixture()
        for number in 0..<10 { try fixture.put("{}", as: "r\(number).json") }
        let opened = try fixture.tree.openDirectory(fixture.notes)
        defer { fixture.tree.release(opened.handle) }
        func names(from offset: UInt64) throws -> [(String, UInt64)] {
            var names: [(String, UInt64)] = []
            try fixture.tree.list(opened.handle, from: offset) { listed in
                names.append((String(decoding: listed.name, as: UTF8.self), listed.next))
                return true
            }
            return names
        }
        let all = try names(from: 0)
        #expect(all.count == 10)
        #expect(try names(from: all[4].1).map(\.0) == all[5...].map(\.0))
        #expect(try names(from: 0).map(\.0) == all.map(\.0))
    }

    @Test("the root lists the README and the databases, and .recordfs only by name")
    func root() throws {
        let fixture = try TreeFixture()
        #expect(
            try fixture.names(in: .root) == ["README.md", "local", "private", "public", "shared"])
        #expect(try fixture.lookup(".recordfs", in: .root) != nil)
    }

    @Test("a directory with entries is not removed, an empty one is")
    func rmdir() throws {
        let fixture = try TreeFixture()
        let base = try #require(try fixture.lookup("private", in: .root))
        let zone = try #require(try fixture.lookup("Box", in: base.node))
        try fixture.put("{}", as: "n.json")
        let error = #expect(throws: RecordError.self) {
            try fixture.tree.removeDirectory(parent: zone.node, name: "Note".b)
        }
        #expect(error?.code == .notEmpty)
        let zoneError = #expect(throws: RecordError.self) {
            try fixture.tree.removeDirectory(parent: base.node, name: "Box".b)
        }
        #expect(zoneError?.code == .notEmpty)
        _ = try fixture.tree.makeDirectory(parent: zone.node, name: "Empty".b, mode: 0o755)
        try fixture.tree.removeDirectory(parent: zone.node, name: "Empty".b)
        #expect(try fixture.names(in: zone.node) == ["Note"])
    }

    @Test(
        "a name that is no canonical encoding of a record name is refused",
        arguments: ["a%2f.json", "a%zz.json", "caf\u{7}.json", "100%.json", "x@y z.json"])
    func badNames(_ name: String) throws {
        let fixture = try TreeFixture()
        let error = #expect(throws: RecordError.self) { try fixture.put("{}", as: name) }
        #expect(error?.code == .invalidName)
        #expect(try fixture.names() == [])
    }

    @Test("NFC and NFD names are two records, and so are A and a")
    func bytes() throws {
        let fixture = try TreeFixture()
        for name in ["caf\u{e9}.json", "cafe\u{301}.json", "A.json", "a.json"] {
            try fixture.put("{}", as: name)
        }
        let opened = try fixture.tree.openDirectory(fixture.notes)
        defer { fixture.tree.release(opened.handle) }
        var names: Set<[UInt8]> = []
        try fixture.tree.list(opened.handle, from: 0) { listed in
            names.insert(listed.name)
            return true
        }
        #expect(names.count == 4)
    }
}
