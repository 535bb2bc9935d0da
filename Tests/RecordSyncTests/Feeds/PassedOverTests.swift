import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Records that the server has and that cannot be shown here: they are counted, and come when they can.
@Suite struct PassedOverTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    /// A field `w` of numbers at A and on the server, and of texts at B, where `x` cannot be shown.
    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
        try a.save("x", #"{"w":5}"#)
        try a.save("y", #"{"v":1}"#)
        try await a.sync()
        try b.save("n", #"{"w":"text"}"#)
        try await b.exchange.round()
        _ = b.wire.takeSent()
    }

    private func passedOver() throws -> [String] {
        let records = try b.store.syncState.passedOver(limit: 10)
        #expect(try b.store.syncState.counts().passedOver == Int64(records.count))
        #expect(records.allSatisfy { $0.record.type == RecordTypeName("Note") })
        return records.map { "\($0.record.name.map(\.description) ?? ""): \($0.record.reason)" }
    }

    /// Gives `w` the server's type at B.
    private func correctSchema() throws {
        try b.delete("n")
        try b.store.write(author: .commandLine) { transaction throws(RecordError) in
            let type = RecordTypeName("Note")
            let fields = try transaction.schema(of: type).fields.filter {
                $0.name != FieldName("w")
            }
            let number = RecordSchema.Field(
                name: FieldName("w"), type: .int64, isQueryable: true, isSortable: true,
                isSearchable: false)
            try transaction.setSchema(RecordSchema(fields: fields + [number]), of: type)
        }
    }

    private func errors() throws -> [String] {
        // What B could not send is another matter.
        try b.store.syncState.syncEvents(after: 0, limit: 100).filter { $0.kind != .export }
            .compactMap(\.error)
    }

    @Test("it is counted, told once, and comes by itself when the schema is another one")
    func comes() async throws {
        let reasons = try passedOver()
        #expect(reasons.count == 1 && reasons[0].hasPrefix("x: "), "\(reasons)")
        #expect(try errors() == ["A record cannot be shown here: \(reasons[0])"])
        #expect(try b.names() == ["n", "y"])
        try correctSchema()
        try await b.exchange.round()
        #expect(try passedOver() == [])
        #expect(try b.tree() == ["x": #"{"w":5}"#, "y": #"{"v":1}"#])
        #expect(b.wire.takeSent().count { $0 == .recordsLookup } == 1)
        try b.expectSound()
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try fresh.tree() == b.tree())
    }

    @Test("who asks in vain is told so by the count, and asks no more")
    func inVain() async throws {
        try b.store.syncState.retryParked()
        for _ in 0..<3 { try await b.exchange.round() }
        #expect(b.wire.takeSent().count { $0 == .recordsLookup } == 1)
        #expect(try passedOver().count == 1)
        #expect(try errors().count == 1)
    }

    @Test("an engine that starts asks again: it may be of another version")
    func engine() async throws {
        try correctSchema()
        let zone = try #require(try b.store.zone(.private, .me, ZoneName("Box"))).id
        try b.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.feed.endRetry(of: [RecordName("x")], in: zone)
        }
        try await b.exchange.round()
        #expect(try passedOver().count == 1)
        let engine = SyncEngine(b.exchange)
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        #expect(try passedOver() == [])
        #expect(try b.text("x") == #"{"w":5}"#)
        task.cancel()
        await task.value
    }

    @Test("one that is deleted there, or changed into what can be shown, is counted no more")
    func gone() async throws {
        try a.save("x2", #"{"w":6}"#)
        try await a.sync()
        try await b.exchange.round()
        #expect(try passedOver().count == 2)
        try a.delete("x")
        try a.save("x2", #"{"v":6}"#)
        try await a.sync()
        try await b.exchange.round()
        #expect(try passedOver() == [])
        #expect(try b.text("x2") == #"{"v":6}"#)
    }

    @Test("with its zone it is forgotten")
    func zone() async throws {
        try b.delete("n")
        try a.removeZone()
        try await a.sync()
        try await b.sync()
        #expect(try b.store.syncState.passedOver(limit: 10).isEmpty)
        #expect(try b.zones == [])
    }
}
