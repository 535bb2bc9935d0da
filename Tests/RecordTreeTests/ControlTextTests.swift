import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import TestSupport
import Testing

/// The texts below `.recordfs`, as a whole (ControlDirectory, "Overview").
@Suite("Texts of the control directory")
struct ControlTextTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    private func json(_ path: String) throws -> JSONValue {
        try JSONParser.parse(fixture.content(".recordfs/\(path)").b)
    }

    private func writeSchema(_ text: String) throws {
        let node = try fixture.control("schema/development.ckdb")
        let flags = O_WRONLY | O_TRUNC
        let handle = try fixture.tree.open(node, flags: flags, caller: TreeFixture.user).handle
        defer { fixture.tree.release(handle) }
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
    }

    // MARK: Status and metrics

    @Test("the status counts what is there, what waits and what was refused, for each zone")
    func status() throws {
        try fixture.put(#"{"n":1}"#, as: "a.json")
        try fixture.put(#"{"n":1}"#, as: "b.json")
        try fixture.send()
        try fixture.put(#"{"n":2}"#, as: "a.json")
        #expect(throws: RecordError.self) { try fixture.put("{", as: "b.json") }
        try fixture.put("12345", as: "s")
        let status = try json("status.json")
        let zone = try #require(status["zones"]?.array?.first)
        let expected: [(String, Int64)] = [
            ("records", 2), ("pending", 1), ("drafts", 1), ("refused", 0), ("conflicts", 0),
            ("passedOver", 0),
        ]
        for (key, count) in expected { #expect(zone[key]?.int64 == count, "\(key)") }
        #expect(zone["database"]?.string == "private" && zone["zone"]?.string == "Box")
        #expect(zone["oldestPending"]?.string?.string == "2027-01-15T08:00:00.000Z")
        #expect(status["scratchFiles"]?.int64 == 1 && status["scratchBytes"]?.int64 == 5)
        #expect(status["unsaved"]?.int64 == 0)
        for key in ["account", "server", "sync"] { #expect(status[key] == .null, "\(key)") }
    }

    @Test("the metrics are those of the store, each with its help and its kind")
    func metrics() throws {
        try fixture.put(#"{"n":1}"#, as: "a.json")
        #expect(throws: RecordError.self) { try fixture.put("{", as: "b.json") }
        let open = try fixture.openNew("a.json", flags: O_RDONLY)
        defer { fixture.tree.release(open) }
        let lines = try fixture.content(".recordfs/metrics").split(separator: "\n").map(String.init)
        #expect(lines.count == 24)
        for (name, value) in [
            ("recordfs_records", 1), ("recordfs_pending_changes", 1), ("recordfs_drafts", 1),
            ("recordfs_refused_changes", 0), ("recordfs_conflicts", 0),
            ("recordfs_passed_over_records", 0), ("recordfs_open_records", 1),
            ("recordfs_open_handles", 1),
        ] {
            let at = try #require(lines.firstIndex { $0.hasPrefix("# HELP \(name) ") }, "\(name)")
            #expect(lines[at + 1] == "# TYPE \(name) gauge")
            #expect(lines[at + 2] == "\(name) \(value)")
        }
    }

    // MARK: System values

    @Test("meta has the system values of a record in each state, and the same as its attributes")
    func meta() throws {
        let path = "meta/private/Box/Note/a.json"
        func state(_ expected: String) throws {
            let meta = try json(path)
            #expect(meta["state"]?.string?.string == expected)
            let node = try #require(try fixture.lookup("a.json")).node
            for name in try fixture.tree.attributeNames(of: node) {
                let key = String(decoding: name, as: UTF8.self).dropFirst("user.recordfs.".count)
                let value = try fixture.tree.attribute(name, of: node)
                let text = String(decoding: value, as: UTF8.self)
                let shown = meta[String(key)]
                #expect(shown?.string?.string == text || shown?.int64 == Int64(text), "\(key)")
            }
        }
        #expect(try fixture.find(".recordfs/\(path)") == nil)
        let handle = try fixture.openNew("a.json")
        #expect(try fixture.find(".recordfs/\(path)") == nil, "there is no record yet")
        try fixture.write(#"{"n":1}"#, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try state("pending")
        try fixture.send()
        try state("synced")
        #expect(throws: RecordError.self) { try fixture.put("{", as: "a.json") }
        try state("draft")
        #expect(try json(path)["error"]?.string?.string.contains("line 1") == true)
        try fixture.put(#"{"n":3}"#, as: "a.json")
        try fixture.receive(
            .upsert([RecordField(name: FieldName("n"), value: .int64(4))], parent: nil), name: "a")
        try state("conflict")
        try fixture.remove("a.json")
        #expect(try fixture.find(".recordfs/\(path)") == nil)
    }

    // MARK: The schema

    private static let schema = """
        DEFINE SCHEMA
            RECORD TYPE Note (
                n INT64,
                title STRING QUERYABLE
            );

        """

    @Test("writing the development schema changes it, and saves obey it from then on")
    func schemaIsWritten() throws {
        try writeSchema(Self.schema)
        let text = try fixture.content(".recordfs/schema/development.ckdb")
        #expect(text.contains("RECORD TYPE Note") && text.contains("title"))
        #expect(text.contains("n ") && text.contains("INT64"))
        #expect(try code { try fixture.put(#"{"n":"text"}"#, as: "a.json") } == .schemaMismatch)
        try fixture.put(#"{"n":7,"title":"t"}"#, as: "a.json")
        // What is printed can be written again, and says the same.
        try writeSchema(text)
        #expect(try fixture.content(".recordfs/schema/development.ckdb") == text)
    }

    @Test(
        "a schema that is none is refused at close, and changes nothing",
        arguments: ["DEFINE", "{"])
    func badSchema(text: String) throws {
        try writeSchema(Self.schema)
        let before = try fixture.content(".recordfs/schema/development.ckdb")
        let got = try code { try writeSchema(text) }
        #expect(got != nil)
        #expect(try fixture.content(".recordfs/schema/development.ckdb") == before)
    }

    @Test("the production schema is not written here")
    func production() throws {
        let node = try fixture.control("schema/production.ckdb")
        #expect(
            try code {
                _ = try fixture.tree.open(node, flags: O_WRONLY, caller: TreeFixture.user)
            } == .notPermitted)
        var changes = NodeChanges()
        changes.size = 0
        #expect(
            try code { _ = try fixture.tree.setAttributes(of: node, changes, handle: nil) }
                == .notPermitted)
    }

    // MARK: Reads of every kind of file

    @Test("each file reads the same in parts of any size, and nothing before and after its bytes")
    func parts() throws {
        try fixture.put(#"{"n":1}"#, as: "a.json")
        try fixture.put("bytes", as: "a@photo.jpg")
        try fixture.put("local", as: "s")
        #expect(throws: RecordError.self) { try fixture.put("{", as: "b.json") }
        try fixture.put(#"{"n":2}"#, as: "c.json")
        try fixture.remove("c.json")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        let note = "private/Box/Note"
        let versions = try fixture.names(in: fixture.control("history/\(note)/a"))
        let paths =
            [
                "README.md", "\(note)/a.json", "\(note)/a@photo.jpg", "\(note)/s", "\(note)/.error",
                ".recordfs/status.json", ".recordfs/metrics", ".recordfs/meta/\(note)/a.json",
                ".recordfs/export/\(note).json", ".recordfs/export/\(note).ndjson",
                ".recordfs/export/\(note).csv", ".recordfs/trash/\(note)/c.json",
                ".recordfs/schema/development.ckdb", ".recordfs/schema/production.ckdb",
            ] + versions.map { ".recordfs/history/\(note)/a/\($0)" }
            + (try fixture.names(in: fixture.control("errors")).map { ".recordfs/errors/\($0)" })
        for path in paths {
            let node = try #require(try fixture.find(path), "\(path)").node
            let handle = try fixture.tree.open(node, flags: O_RDONLY, caller: TreeFixture.user)
                .handle
            defer { fixture.tree.release(handle) }
            let whole = try fixture.read(handle)
            let size = whole.utf8.count
            #expect(try fixture.tree.attributes(of: node, handle: handle).0.size == size, "\(path)")
            for count in [1, 3, 4096] where size < 2000 {
                var text = ""
                while text.utf8.count < size {
                    let part = try fixture.read(
                        handle, offset: Int64(text.utf8.count), count: count)
                    guard !part.isEmpty else { break }
                    text += part
                }
                #expect(text == whole, "\(path) by \(count)")
            }
            for (offset, count) in [(Int64(size), 10), (Int64(size) + 1, 1), (0, 0), (.max, 1)] {
                #expect(try fixture.read(handle, offset: offset, count: count) == "", "\(path)")
            }
        }
    }

    @Test(
        "what no kernel asks for is no trap",
        arguments: [(0, -1), (1, Int.min), (-1, 5), (0, .max)])
    func extremeReads(offset: Int, count: Int) throws {
        for path in ["README.md", ".recordfs/status.json", ".recordfs/metrics"] {
            let node = try #require(try fixture.find(path)).node
            let handle = try fixture.tree.open(node, flags: O_RDONLY, caller: TreeFixture.user)
                .handle
            defer { fixture.tree.release(handle) }
            guard
                case .bytes(let bytes) = try fixture.tree.read(
                    handle, offset: Int64(offset), count: count)
            else { continue }
            #expect(bytes.isEmpty || count == .max, "\(path)")
        }
    }
}
