import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// Programs of an account that know more or fewer fields and types than each other.
@Suite("Older and newer writers") struct OtherWriterTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica
    private let client: OtherClient

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
        client = OtherClient(server: server)
        try a.save("x", #"{"title":"one"}"#)
        for replica in [a, b] { try await replica.sync() }
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    private func expectText(_ text: String, of name: String = "x") async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in [a, b, fresh] {
            #expect(try replica.text(name) == text)
            #expect(try replica.outbox() == [])
        }
    }

    @Test("a field that a newer program adds is in the file, and stays when others are edited")
    func newField() async throws {
        try await client.send("forceUpdate", "x", ["color": ["value": "red"]])
        // Not heard of here yet.
        try a.save("x", #"{"title":"two"}"#)
        try await syncAll()
        try await expectText(#"{"color":"red","title":"two"}"#)
        try b.save("x", #"{"color":"red","title":"three"}"#)
        try await syncAll()
        try await expectText(#"{"color":"red","title":"three"}"#)
    }

    @Test("an older program's edit leaves the fields that it does not know")
    func olderProgram() async throws {
        try a.save("x", #"{"title":"one","color":"red","n":{"a":[1]}}"#)
        try await syncAll()
        try await client.send("forceUpdate", "x", ["title": ["value": "two"]])
        try await syncAll()
        try await expectText(#"{"color":"red","n":{"a":[1]},"title":"two"}"#)
    }

    @Test("a field that a program has cleared is gone, and one that it did not name is not")
    func cleared() async throws {
        try a.save("x", #"{"title":"one","color":"red","size":1}"#)
        try await syncAll()
        try await client.send("forceUpdate", "x", ["color": ["value": nil]])
        try b.save("x", #"{"title":"one","color":"red","size":2}"#)
        try await syncAll()
        try await expectText(#"{"size":2,"title":"one"}"#)
        // Null in a file is no value either.
        try a.save("x", #"{"title":null,"size":2}"#)
        try await syncAll()
        let there = try await server.call(
            .recordsLookup, .private, as: .alice,
            ["zoneID": ["zoneName": "Box"], "records": [["recordName": "x"]]])
        #expect(!there.text.contains("\"title\""), "\(there.text)")
    }

    @Test("a file that a newer program puts beside a record is listed, and its edit keeps both")
    func newFile() async throws {
        try b.attach([1, 2, 3], to: "x")
        try await b.sync()
        try a.save("x", #"{"title":"two"}"#)
        try await syncAll()
        #expect(try a.assets(of: "x") == ["x@photo.jpg": nil])
        #expect(try b.assets(of: "x") == ["x@photo.jpg": [1, 2, 3]])
        #expect(try a.text("x")?.contains(#""title":"two""#) == true)
        #expect(try a.text("x") == b.text("x"))
    }

    @Test("records of a type that nobody here has made are files of a new directory, and go there")
    func newType() async throws {
        try await client.send("create", "y", type: "Later", ["f": ["value": 1]])
        try await syncAll()
        let box = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        let later = try #require(try b.store.type(box.id, RecordTypeName("Later")))
        #expect(try b.store.records(in: later.id, limit: 10).map(\.stem) == [Stem("y")])
        try await client.send("forceDelete", "y", type: "Later")
        try await syncAll()
        #expect(try b.store.records(in: later.id, limit: 10) == [])
        #expect(try b.store.record(named: RecordName("y"), in: box.id) == nil)
        #expect(try b.outbox() == [])
        try b.expectSound()
    }

    @Test("a record with no field but its name is an empty object, and can be edited")
    func nameAlone() async throws {
        try await client.send("create", "bare")
        try await syncAll()
        try await expectText("{}", of: "bare")
        try b.save("bare", #"{"p":1}"#)
        try await syncAll()
        try await expectText(#"{"p":1}"#, of: "bare")
    }

    @Test(
        "a record whose name is no plain file name comes over, and its edit goes to that record",
        arguments: [
            "a:b", "a/b", ".hidden", "x@y.jpg", "100%", "x.json", "-", "a b", "CON", "x~",
        ])
    func oddNames(name: String) async throws {
        try await client.send("create", name, ["p": ["value": 1]])
        try await syncAll()
        let stem = "\(Stem(encoding: RecordName(name)))"
        #expect(try b.text(stem) == #"{"p":1}"#)
        try b.save(stem, #"{"p":2}"#)
        try await syncAll()
        try await expectText(#"{"p":2}"#, of: stem)
        let there = try await server.call(
            .recordsLookup, .private, as: .alice,
            ["zoneID": ["zoneName": "Box"], "records": [["recordName": JSONValue(name)]]])
        #expect(there.text.contains("\"value\":2"), "\(there.text)")
        try b.delete(stem)
        try await syncAll()
        #expect(try a.names() == ["x"] && b.names() == ["x"])
    }

    @Test("a name that the server does not take is refused with the reason, and others go on")
    func refusedName() async throws {
        let error = #expect(throws: RecordError.self) { try a.save("_own", #"{"p":1}"#) }
        #expect(error?.code == .invalidName && error?.message.contains("_") == true)
        try a.save("y", #"{"p":1}"#)
        try await syncAll()
        #expect(try b.names() == ["x", "y"] && a.outbox() == [])
        // Another name for it, and it goes.
        try a.save("own", #"{"p":1}"#)
        try await syncAll()
        #expect(try b.names() == ["own", "x", "y"] && a.outbox() == [])
    }

    @Test("many deletions in one page are all done")
    func manyDeletions() async throws {
        for number in 0..<50 { try a.save("d\(number)", "{}") }
        try await syncAll()
        for number in 0..<50 { try await client.send("forceDelete", "d\(number)") }
        try await syncAll()
        #expect(try b.names() == ["x"] && a.names() == ["x"])
        #expect(try b.store.syncState.counts().trash == 50)
    }
}
