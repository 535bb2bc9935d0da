import Foundation
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

@Suite("Listings below .recordfs")
struct ControlListingTests {
    @Test("a trash of 50 000 is listed with a few statements, and each name found with two")
    func trash() throws {
        let fixture = try TreeFixture()
        try fixture.trash((0..<50_000).map { "r\($0)" })
        let directory = try fixture.control("trash/private/Box/Note")
        var names: [String] = []
        let forListing = try fixture.reads { names = try fixture.list(directory) }
        #expect(names.count == 50_000)
        #expect(Set(names).count == 50_000)
        #expect(forListing <= 2)
        let forLookups = try fixture.reads {
            for number in stride(from: 0, to: 50_000, by: 500) {
                let entry = try #require(try fixture.lookup("r\(number).json", in: directory))
                #expect(entry.attributes.size == 7)
            }
        }
        #expect(forLookups <= 100 * 2)
        let forMove = try fixture.reads {
            try fixture.tree.rename(
                parent: directory, name: "r7.json".b, newParent: fixture.notes,
                newName: "r7.json".b, flags: 0)
        }
        #expect(forMove <= 10)
    }

    @Test("a query with 5 000 matches reads them once, and each name finds its record alone")
    func query() throws {
        let fixture = try TreeFixture()
        try fixture.save((0..<5000).map { "r\($0)" })
        try fixture.save(["other"], #"{"n":2}"#)
        let directory = try fixture.control("query/private/Box/Note/n=1")
        var names: [String] = []
        let forListing = try fixture.reads { names = try fixture.list(directory) }
        #expect(Set(names).count == 5000 && names.count == 5000)
        #expect(forListing <= 10)
        let forLookups = try fixture.reads {
            for number in 0..<100 {
                _ = try #require(try fixture.lookup("r\(number).json", in: directory))
            }
        }
        #expect(forLookups <= 100 * 4)
        #expect(try fixture.lookup("other.json", in: directory) == nil)
        #expect(try fixture.lookup("none.json", in: directory) == nil)
    }

    @Test("a search with 5 000 matches reads them once, and each name asks for one record")
    func search() throws {
        let fixture = try TreeFixture()
        try fixture.save((0..<5000).map { "r\($0)" }, #"{"title":"green curry"}"#)
        try fixture.save(["other"], #"{"title":"red curry"}"#)
        let directory = try fixture.control("search/private/Box/green curry")
        // The first search indexes what there is.
        _ = try fixture.list(directory)
        var names: [String] = []
        let forListing = try fixture.reads { names = try fixture.list(directory) }
        #expect(Set(names).count == 5000 && names.count == 5000)
        #expect(forListing <= 10)
        let forLookups = try fixture.reads {
            for number in 0..<100 {
                _ = try #require(try fixture.lookup("r\(number).json", in: directory))
            }
        }
        #expect(forLookups <= 100 * 4)
        #expect(try fixture.lookup("other.json", in: directory) == nil)
    }

    @Test("the history and the system values of 5 000 records are listed by pages")
    func history() throws {
        let fixture = try TreeFixture()
        try fixture.save((0..<5000).map { "r\($0)" })
        for (section, ending) in [("history", ""), ("meta", ".json")] {
            let directory = try fixture.control("\(section)/private/Box/Note")
            var names: [String] = []
            let forListing = try fixture.reads { names = try fixture.list(directory) }
            #expect(Set(names) == Set((0..<5000).map { "r\($0)\(ending)" }))
            #expect(forListing <= 10, "\(section)")
            let forLookups = try fixture.reads {
                for number in 0..<100 {
                    _ = try #require(try fixture.lookup("r\(number)\(ending)", in: directory))
                }
            }
            #expect(forLookups <= 100 * 4, "\(section)")
        }
    }

    @Test(
        "rm -r in the trash takes few transactions, and what was removed is there no more at once")
    func emptied() throws {
        let fixture = try TreeFixture()
        try fixture.trash((0..<500).map { "r\($0)" })
        let directory = try fixture.control("trash/private/Box/Note")
        let commits = Mutex(0)
        fixture.store.traceWrites { if $0.hasPrefix("COMMIT") { commits.withLock { $0 += 1 } } }
        for name in try fixture.list(directory) {
            try fixture.tree.remove(
                parent: directory, name: Array(name.utf8), caller: TreeFixture.user)
        }
        #expect(try fixture.find(".recordfs/trash/private/Box/Note/r7.json") == nil)
        fixture.store.traceWrites(nil)
        #expect(commits.withLock { $0 } <= 3)
        #expect(try fixture.list(directory).isEmpty)
        try fixture.maintain()
        #expect(try fixture.store.past.trash(in: try fixture.note.id).isEmpty)
    }

    @Test("records deleted under one name are listed under names that stay")
    func sameNames() throws {
        let fixture = try TreeFixture()
        for number in 1...3 { try fixture.trash(["a"], "{\"n\":\(number)}") }
        let directory = try fixture.control("trash/private/Box/Note")
        let names = try fixture.list(directory).sorted()
        let rows = try fixture.store.past.trash(in: try fixture.note.id).map(\.id)
        #expect(names == (["a.json"] + rows.dropFirst().map { "a@\($0).json" }).sorted())
        let path = ".recordfs/trash/private/Box/Note/"
        #expect(try fixture.content(path + "a.json") == #"{"n":3}"#)
        #expect(try fixture.content(path + "a@\(rows[0]).json") == #"{"n":3}"#)
        #expect(try fixture.content(path + "a@\(rows[1]).json") == #"{"n":2}"#)
        #expect(try fixture.content(path + "a@\(rows[2]).json") == #"{"n":1}"#)
        for name in ["b@\(rows[1]).json", "a@9999.json", "a@.json", "a@x.json", "@.json", ".json"] {
            #expect(try fixture.find(path + name) == nil, "\(name)")
        }
        // The next one takes the plain name; what had one of its own keeps it.
        try fixture.trash(["a"], #"{"n":4}"#)
        #expect(try fixture.content(path + "a.json") == #"{"n":4}"#)
        #expect(try fixture.content(path + "a@\(rows[0]).json") == #"{"n":3}"#)
    }

    @Test("matches of one name in several types are listed under names that stay")
    func searchNames() throws {
        let fixture = try TreeFixture()
        let text = #"{"title":"curry"}"#
        let first = try fixture.save(["a"], text)[0]
        let second = try fixture.save(["a"], text, type: "Task")[0]
        let directory = try fixture.control("search/private/Box/curry")
        #expect(try fixture.list(directory).sorted() == ["a.json", "a@\(second.rawValue).json"])
        func target(_ name: String) throws -> String {
            let entry = try #require(try fixture.lookup(name, in: directory))
            let target = try fixture.tree.target(ofSymlink: entry.node)
            #expect(entry.attributes.size == Int64(target.count))
            return String(decoding: target, as: UTF8.self)
        }
        #expect(try target("a.json") == "../../../../../private/Box/Note/a.json")
        #expect(try target("a@\(first.rawValue).json").hasSuffix("/Note/a.json"))
        #expect(try target("a@\(second.rawValue).json").hasSuffix("/Task/a.json"))
        #expect(try fixture.lookup("b@\(first.rawValue).json", in: directory) == nil)
    }

    @Test("a name as long as a name can be is distinct too")
    func longNames() throws {
        let fixture = try TreeFixture()
        let long = String(repeating: "x", count: 250)
        try fixture.trash([long, long])
        let names = try fixture.list(try fixture.control("trash/private/Box/Note"))
        #expect(Set(names).count == 2)
        for name in names {
            #expect(name.utf8.count <= 255)
            #expect(try fixture.find(".recordfs/trash/private/Box/Note/" + name) != nil)
        }
    }

    @Test("the history of a record with a shortened name is found")
    func shortened() throws {
        let fixture = try TreeFixture()
        let name = String(repeating: "\u{e9}", count: 127)
        try fixture.receive(
            .upsert([RecordField(name: FieldName("n"), value: .int64(1))], parent: nil),
            name: name)
        let directory = try fixture.control("history/private/Box/Note")
        let shown = try fixture.list(directory)
        #expect(shown.count == 1)
        let entry = try #require(try fixture.lookup(shown[0], in: directory))
        #expect(try fixture.list(entry.node).count == 1)
    }

    @Test("listed names have the inode numbers that stat tells")
    func inodes() throws {
        let fixture = try TreeFixture()
        try fixture.save(["a", "b"])
        try fixture.trash(["c"])
        let paths = [
            "", "errors", "schema", "trash", "trash/private", "trash/private/Box",
            "trash/private/Box/Note", "history/private/Box/Note", "history/private/Box/Note/a",
            "meta/private/Box/Note", "export/private/Box", "query/private/Box/Note/n=1",
        ]
        func inodes(_ tree: Tree) throws -> [String: UInt64] {
            var found: [String: UInt64] = [:]
            for path in paths {
                let opened = try tree.openDirectory(try fixture.control(path))
                try tree.list(opened.handle, from: 0) { listed in
                    found["\(path)/\(String(decoding: listed.name, as: UTF8.self))"] =
                        listed.entry.attributes.inode
                    return true
                }
                tree.release(opened.handle)
            }
            return found
        }
        let listed = try inodes(fixture.tree)
        #expect(listed.count > 20)
        #expect(Set(listed.values).count == listed.count)
        for (path, inode) in listed {
            #expect(try fixture.find(".recordfs/" + path)?.attributes.inode == inode, "\(path)")
        }
    }
}
