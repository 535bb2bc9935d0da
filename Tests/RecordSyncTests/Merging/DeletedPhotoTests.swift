import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// The large field of a record that one machine deletes while another, which has never read it, goes on
/// with the record: its bytes are on the server alone, and no record has them.
@Suite("The photo of a record that is deleted and comes back") struct DeletedPhotoTests {
    /// What becomes of the record at the machine that never read its photo.
    enum Way: String, CaseIterable, Sendable {
        case edited, renamed, moved, editedAndRenamed

        /// Zone and name of the record then.
        var place: (zone: String, name: String) {
            switch self {
            case .edited: ("Main", "r")
            case .renamed, .editedAndRenamed: ("Main", "s")
            case .moved: ("Side", "r")
            }
        }
    }

    private let server: TestServer
    /// Has the bytes.
    private let maker: Replica
    /// Has the record without them.
    private let other: Replica
    private static let photo = [UInt8](repeating: 7, count: 700)

    init() async throws {
        server = try await TestServer()
        (maker, other) = (try Replica(server), try Replica(server))
        try maker.save("r", #"{"n":1}"#, zone: "Main")
        try maker.attach(Self.photo, to: "r", zone: "Main")
        for zone in ["Main", "Side"] { try maker.save("stays", "{}", zone: zone) }
        for machine in [maker, other, maker] { try await machine.sync() }
    }

    private func edit() throws {
        let text = try #require(try other.text("r", zone: "Main"))
        try other.save("r", text.replacing(#""n":1"#, with: #""n":2"#), zone: "Main")
    }

    private func change(_ way: Way) throws {
        switch way {
        case .edited: try edit()
        case .renamed: try other.rename("r", to: "s", zone: "Main")
        case .moved: try other.move("r", from: "Main", to: "Side")
        case .editedAndRenamed:
            try edit()
            try other.rename("r", to: "s", zone: "Main")
        }
    }

    /// Reads it as a machine does that comes new.
    private func bytes(_ name: String, _ zone: String) async throws -> [UInt8]? {
        let fresh = try Replica(server)
        try await fresh.sync()
        let record = try #require(try fresh.entry(name, zone))
        guard let asset = try fresh.store.assets.assets(of: record.id).first else { return nil }
        let downloads = AssetDownloads(fresh.exchange)
        let bytes = try await downloads.read(asset, offset: 0, count: 10_000)
        await downloads.stop()
        return bytes
    }

    private func expectSettled() throws {
        for machine in [maker, other] {
            #expect(try machine.outbox() == [])
            #expect(try machine.problems() == [])
            let conflicts = try machine.conflicts(zone: "Main")
            #expect(!conflicts.contains { $0.fields.contains(FieldName("photo")) }, "\(conflicts)")
        }
        #expect(other.wire.uploadedBytes == 0)
    }

    @Test("is there when the other machine has changed the record", arguments: Way.allCases)
    func changed(way: Way) async throws {
        try maker.delete("r", zone: "Main")
        try await maker.sync()
        server.clock.advance(.seconds(5))
        try change(way)
        for machine in [other, maker, other, maker] { try await machine.sync() }
        #expect(try await bytes(way.place.name, way.place.zone) == Self.photo)
        try expectSettled()
    }

    @Test("is there after days with that record, and some hours without")
    func late() async throws {
        server.clock.advance(.seconds(10 * 24 * 3600))
        try maker.delete("r", zone: "Main")
        try await maker.sync()
        server.clock.advance(.seconds(20 * 3600))
        try await server.sweepAssets()
        try edit()
        for machine in [other, maker, other, maker] { try await machine.sync() }
        #expect(try await bytes("r", "Main") == Self.photo)
        try expectSettled()
    }

    @Test("goes with a conflict when the server has removed its bytes")
    func tooLate() async throws {
        try maker.delete("r", zone: "Main")
        try await maker.sync()
        try await server.forgetBytes()
        try edit()
        for _ in 0..<4 { try await other.exchange.round() }
        try await other.sync()
        #expect(try other.outbox() == [])
        #expect(try await bytes("r", "Main") == nil)
        #expect(try other.conflicts(zone: "Main").map(\.fields).contains([FieldName("photo")]))
    }

    @Test("is there when the machine that deleted the record brings it back from its trash")
    func restored() async throws {
        try other.delete("r", zone: "Main")
        try await other.sync()
        let zone = try #require(try other.store.zone(.private, .me, ZoneName("Main")))
        let trashed = try #require(try other.store.past.trash(in: zone.id).first)
        try other.store.write(author: .commandLine) { transaction throws(RecordError) in
            _ = try transaction.records.restore(trashed.id)
        }
        for machine in [other, maker, other] { try await machine.sync() }
        #expect(try await bytes("r", "Main") == Self.photo)
        try expectSettled()
    }
}

extension TestServer {
    /// As the server does by itself, every few minutes.
    func sweepAssets() async throws {
        try await AssetSweeper(
            storage: storage, assets: service.assets,
            receiptSeconds: service.settings.receiptSeconds
        ).sweep(now: clock.now)
    }

    /// So long after that it has the bytes no more that no record has.
    func forgetBytes() async throws {
        clock.advance(.seconds(2 * 24 * 3600))
        try await sweepAssets()
    }
}
