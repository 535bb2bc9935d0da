import Foundation
import RecordModel
import RecordStore
import RecordTree
import Testing

/// A node stands for its bytes: other bytes under a name are another node, and the same bytes
/// under another name are too, because the kernel keeps pages by node and nodes by name.
@Suite("The identity of assets")
struct AssetIdentityTests {
    private static let elements = ["one", "second", "the third", "number four"]

    private struct Bench {
        let fixture: TreeFixture
        var nodes: [NodeNumber]
        var readers: [HandleNumber]

        init() throws {
            fixture = try TreeFixture()
            fixture.observe()
            try fixture.put("{\"a\": 1}", as: "n.json")
            for (index, text) in elements.enumerated() {
                try fixture.put(text, as: "n@p.\(index).bin")
            }
            (nodes, readers) = ([], [])
            for index in elements.indices {
                let node = try #require(try fixture.lookup("n@p.\(index).bin")).node
                nodes.append(node)
                readers.append(
                    try fixture.tree.open(node, flags: O_RDONLY, caller: TreeFixture.user).handle)
            }
            _ = fixture.notices.take()
        }

        /// Each name has these bytes and this size in a node that the kernel has never met under
        /// another content, and the old nodes lead nowhere but to those who have them open.
        func expect(_ contents: [String], kept: [Int] = []) throws {
            let notices = fixture.notices.take()
            for (index, text) in contents.enumerated() {
                let name = "n@p.\(index).bin"
                let entry = try #require(try fixture.lookup(name))
                #expect(try fixture.text(name) == text)
                #expect(entry.attributes.size == Int64(text.utf8.count))
                #expect((entry.node == nodes[index]) == kept.contains(index), "\(name)")
                #expect(kept.contains(index) || !nodes.contains(entry.node), "\(name)")
            }
            #expect(try fixture.lookup("n@p.\(contents.count).bin") == nil)
            for (index, node) in nodes.enumerated() where !kept.contains(index) {
                #expect(notices.contains(.content(node)), "element \(index)")
                let error = #expect(throws: RecordError.self) {
                    try fixture.tree.open(node, flags: O_RDONLY, caller: TreeFixture.user)
                }
                #expect(error?.code == .stale)
            }
            for (index, handle) in readers.enumerated() {
                #expect(try fixture.read(handle) == elements[index], "reader \(index)")
                let size = Int64(elements[index].utf8.count)
                let status = try fixture.tree.attributes(of: nodes[index], handle: handle)
                #expect(status.0.size == size, "reader \(index)")
            }
        }

        func close() { for handle in readers { fixture.tree.release(handle) } }
    }

    @Test("the elements behind a removed one are other nodes with their own bytes")
    func removed() throws {
        let bench = try Bench()
        try bench.fixture.remove("n@p.0.bin")
        try bench.expect(["second", "the third", "number four"])
        bench.close()
    }

    @Test("elements that an edit of the text moves are other nodes with their own bytes")
    func reordered() throws {
        let bench = try Bench()
        let order = [2, 1, 0].map { "{\"$asset\": \"n@p.\($0).bin\"}" }
        try bench.fixture.put("{\"p\": [\(order.joined(separator: ", "))]}", as: "n.json")
        try bench.expect(["the third", "second", "one"], kept: [1])
        bench.close()
    }

    @Test("a file that replaces an element by rename is another node")
    func renamedOver() throws {
        let bench = try Bench()
        try bench.fixture.put("new", as: "tmp1")
        try bench.fixture.rename("tmp1", to: "n@p.1.bin")
        try bench.expect(["one", "new", "the third", "number four"], kept: [0, 2, 3])
        bench.close()
    }

    @Test("bytes that replace an element from beside the mount are another node")
    func replacedBeside() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        let path = fixture.directory + "/new"
        try Data("new".utf8).write(to: URL(filePath: path))
        let (hash, size) = try fixture.store.assets.importAsset(fromFile: path)
        let record = try #require(try fixture.record("n"))
        try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
            _ = try transaction.assets.setAsset(
                record.id, FieldName("p"), 2, hash, size: size, fileExtension: "bin".b)
        }
        try bench.expect(["one", "second", "new", "number four"], kept: [0, 1, 3])
        bench.close()
    }

    @Test("what is written in place stays the same node, and its readers see it")
    func inPlace() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        let writer = try fixture.openNew("n@p.1.bin", flags: O_WRONLY)
        try fixture.write("SEC", to: writer)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.lookup("n@p.1.bin")?.node == bench.nodes[1])
        #expect(try fixture.read(bench.readers[1]) == "SECond")
        #expect(try fixture.text("n@p.1.bin") == "SECond")
        bench.close()
    }

    @Test("who writes an element that has moved writes it at its new place")
    func writerMoves() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        let writer = try fixture.openNew("n@p.2.bin", flags: O_WRONLY)
        try fixture.write("THE", to: writer)
        try fixture.remove("n@p.0.bin")
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        let texts = try (0..<3).map { try fixture.text("n@p.\($0).bin") }
        #expect(texts == ["second", "THE third", "number four"])
        bench.close()
    }

    @Test("who writes an element that was taken out of its list changes no other")
    func writerLoses() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        let writer = try fixture.openNew("n@p.0.bin", flags: O_WRONLY)
        try fixture.write("ONE", to: writer)
        let rest = [1, 2, 3].map { "{\"$asset\": \"n@p.\($0).bin\"}" }
        try fixture.put("{\"p\": [\(rest.joined(separator: ", "))]}", as: "n.json")
        try fixture.tree.flush(writer)
        #expect(try fixture.read(writer) == "ONE")
        fixture.tree.release(writer)
        let texts = try (0..<3).map { try fixture.text("n@p.\($0).bin") }
        #expect(texts == ["second", "the third", "number four"])
        bench.close()
    }

    @Test("the kernel may keep the name of an asset, and asks for that of an element each time")
    func cachedNames() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        try fixture.put("photo", as: "n@photo.jpg")
        #expect(try fixture.lookup("n@photo.jpg")?.isCacheable == true)
        #expect(try fixture.lookup("n@p.0.bin")?.isCacheable == false)
        let (made, opened) = try fixture.tree.create(
            parent: fixture.notes, name: "n@p.4.bin".b, mode: 0o644, flags: O_WRONLY,
            caller: TreeFixture.user)
        #expect(!made.isCacheable)
        fixture.tree.release(opened.handle)
        bench.close()
    }

    @Test("a long value that an edit of the text changes is another node")
    func longValue() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        func long(_ letter: String) -> String { String(repeating: letter, count: 70_000) }
        try fixture.put("{\"t\": \"\(long("x"))\", \"n\": 1}", as: "n.json")
        let node = try #require(try fixture.lookup("n@t")).node
        try fixture.put("{\"t\": \"\(long("x"))\", \"n\": 2}", as: "n.json")
        #expect(try fixture.lookup("n@t")?.node == node, "the value is as it was")
        try fixture.put("{\"t\": \"\(long("y"))\", \"n\": 2}", as: "n.json")
        #expect(try fixture.lookup("n@t")?.node != node)
        #expect(try fixture.text("n@t") == long("y"))
        let writer = try fixture.openNew("n@t", flags: O_WRONLY)
        let next = try #require(try fixture.lookup("n@t")).node
        try fixture.write("Y", to: writer)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.lookup("n@t")?.node == next, "written in place")
    }

    @Test("a renamed asset is found under its new name by the node that the kernel moved")
    func renamed() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        try fixture.put("photo", as: "n@old.jpg")
        let node = try #require(try fixture.lookup("n@old.jpg")).node
        let writer = try fixture.openNew("n@old.jpg", flags: O_RDWR)
        try fixture.rename("n@old.jpg", to: "n@new.jpg")
        #expect(try fixture.lookup("n@new.jpg")?.node == node)
        try fixture.write("PH", to: writer)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.text("n@new.jpg") == "PHoto")
        #expect(try fixture.lookup("n@old.jpg") == nil)
        bench.close()
    }

    @Test("the record's text is given up by the kernel before the close of an asset returns")
    func closeTells() throws {
        let bench = try Bench()
        let fixture = bench.fixture
        let record = try #require(try fixture.lookup("n.json")).node
        let heard = TreeFixture.Notices()
        fixture.tree.setNotifier({ _ in }, deliver: { for notice in $0 { heard.add(notice) } })
        let writer = try fixture.openNew("n@p.1.bin", flags: O_WRONLY)
        try fixture.write("SEC", to: writer)
        _ = heard.take()
        try fixture.tree.flush(writer)
        #expect(heard.take().contains(.content(record)))
        fixture.tree.release(writer)
        bench.close()
    }

    @Test("an asset that came before its record has no record to remove, and goes by itself")
    func lone() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("BYTES", as: "lone@photo.jpg")
        #expect(throws: RecordError.self) { try fixture.remove("lone.json") }
        #expect(try fixture.text("lone@photo.jpg") == "BYTES")
        try fixture.remove("lone@photo.jpg")
        #expect(try fixture.names() == [])
    }
}
