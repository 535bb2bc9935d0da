import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// The large field of a record that one machine moves while another writes it, and that nobody else has
/// read: its bytes are on the server alone.
@Suite("The photo of a record that is moved while others write it") struct MovedPhotoTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica
    private static let old = [UInt8](repeating: 1, count: 700)
    private static let new = [UInt8](repeating: 2, count: 800)

    init() async throws {
        server = try await TestServer()
        (a, b) = (try Replica(server), try Replica(server))
        try a.save("r", #"{"n":1}"#, zone: "Main")
        try a.attach(Self.old, to: "r", zone: "Main")
        for place in [("Main", "Task"), ("Side", Step.type), ("Side", "Task")] {
            try a.save("stays-\(place.1)", "{}", zone: place.0, type: place.1)
        }
        for machine in [a, b, a] { try await machine.sync() }
    }

    private func move(_ way: MovedRecordTests.Way) throws {
        switch way {
        case .name: try a.rename("r", to: "s", zone: "Main")
        case .type: try a.move("r", from: "Main", to: "Main", target: "Task")
        case .zone: try a.move("r", from: "Main", to: "Side")
        case .all:
            try a.rename("r", to: "s", zone: "Main")
            try a.move("s", from: "Main", to: "Side", target: "Task")
        }
    }

    /// Reads it as a machine does that comes new.
    private func photo(_ way: MovedRecordTests.Way) async throws -> [UInt8] {
        let parts = way.place.split(separator: "/").map(String.init)
        let fresh = try Replica(server)
        try await fresh.sync()
        let record = try #require(try fresh.entry(parts[2], parts[0], parts[1]))
        let asset = try #require(try fresh.store.assets.assets(of: record.id).first)
        let downloads = AssetDownloads(fresh.exchange)
        let bytes = try await downloads.read(asset, offset: 0, count: 10_000)
        await downloads.stop()
        return bytes
    }

    @Test("is the later one, in every order of the two", arguments: MovedRecordTests.Way.allCases)
    func later(way: MovedRecordTests.Way) async throws {
        try move(way)
        server.clock.advance(.seconds(5))
        try b.attach(Self.new, to: "r", zone: "Main")
        try await b.sync()
        for machine in [a, b, a, b, a] { try await machine.sync() }
        #expect(try await photo(way) == Self.new)
        for machine in [a, b] {
            #expect(try machine.outbox() == [])
            #expect(try machine.problems() == [])
        }
    }

    @Test("is that when the move comes first", arguments: MovedRecordTests.Way.allCases)
    func moveFirst(way: MovedRecordTests.Way) async throws {
        try move(way)
        server.clock.advance(.seconds(5))
        try b.attach(Self.new, to: "r", zone: "Main")
        for machine in [a, b, a, b] { try await machine.sync() }
        #expect(try await photo(way) == Self.new)
    }
}
