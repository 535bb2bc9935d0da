import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import ServerTestSupport
import Simulation
import Testing

/// What is in a zone and was never for the server: `.git`, a page of notes.
@Suite struct LocalFilesTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        (a, b) = (try Replica(server), try Replica(server))
        try a.save("x", #"{"n":1}"#)
        try await a.sync()
        try await b.sync()
    }

    /// A file as the tree keeps it, of the zone or of its type.
    private func leaveFile(ofType: Bool) throws {
        let zone = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        let type = try #require(try b.store.type(zone.id, RecordTypeName("Note")))
        let place = ofType ? "t\(type.id.rawValue)" : "z\(zone.id.rawValue)"
        let folder = "\(b.store.directory)/scratch/\(place)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/notes.md"))
    }

    @Test(
        "a zone that is removed elsewhere keeps its directories for local files, and is not made again",
        arguments: [true, false])
    func removed(ofType: Bool) async throws {
        try leaveFile(ofType: ofType)
        try a.removeZone()
        try await a.sync()
        try await b.sync()
        try await b.sync()
        #expect(try b.names() == [])
        #expect(try b.zones == ["Box"])
        try await a.sync()
        #expect(try a.zones == [])
        #expect(try b.problems() == [])
        // A record in it is for the others again.
        try b.save("y", #"{"n":2}"#)
        try await b.sync()
        try await a.sync()
        #expect(try a.tree() == ["y": #"{"n":2}"#])
        // As one that somebody else makes.
        try a.save("z", #"{"n":3}"#)
        try await a.sync()
        try await b.sync()
        #expect(try b.tree() == a.tree())
    }

    @Test("a zone that shall not be here stays for a local file")
    func none() async throws {
        try leaveFile(ofType: true)
        let zone = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        let isLeft = try b.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.outbox.leaveZone(zone.id)
        }
        #expect(!isLeft)
        #expect(try b.tree() == a.tree())
    }

    @Test(
        "names that are no ASCII go to a recordfs-server; those that no server takes are refused"
    )
    func names() async throws {
        let names = ["é", "日本語", "a b"]
        for name in names { try a.save(name, #"{"n":1}"#) }
        for name in ["%01", "_own"] {
            let error = #expect(throws: RecordError.self) { try a.save(name, #"{"n":1}"#) }
            #expect(error?.code == .invalidName)
        }
        try a.save("z", #"{"n":1}"#)
        try await a.sync()
        try await b.sync()
        #expect(try Set(b.names()) == Set(names + ["x", "z"]))
        #expect(try a.outbox() == [])
    }
}
