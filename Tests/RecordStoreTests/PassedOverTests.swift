import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// Records of the server that cannot be shown here, and the events that tell of the exchange.
@Suite struct PassedOverTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func passOver(_ names: [String?], _ reason: String = "too large") throws {
        try fixture.apply(
            fixture.page(
                [],
                passedOver: names.map {
                    PassedOver($0.map { RecordName($0) }, reason, type: RecordTypeName("Big"))
                }))
    }

    private func listed() throws -> [String] {
        try fixture.store.syncState.passedOver(limit: 10).map { zone, record in
            #expect(zone == fixture.zone.id && record.type == RecordTypeName("Big"))
            return "\(record.name.map(\.description) ?? "-"): \(record.reason)"
        }
    }

    private func errors() throws -> [String] {
        try fixture.store.syncState.syncEvents(after: 0, limit: 10).map { $0.error ?? "" }
    }

    private func due() throws -> [String] {
        let names = try fixture.store.syncState.passedOverToRetry(in: fixture.zone.id, limit: 10)
        let zones = try fixture.store.syncState.zonesWithPassedOverToRetry(in: .private)
        #expect(zones == (names.isEmpty ? [] : [fixture.zone.id]))
        #expect(try fixture.store.syncState.zonesWithPassedOverToRetry(in: .shared).isEmpty)
        return names.map(\.description).sorted()
    }

    @Test("they are listed with the reason, told of once, and gone when they can be shown")
    func list() throws {
        try passOver(["x"])
        try passOver(["x"])
        try passOver(["x", "y"], "newer")
        try passOver([nil], "no name")
        #expect(try listed() == ["x: newer", "y: newer"])
        #expect(
            try errors() == [
                "A record cannot be shown here: x: too large",
                "2 records cannot be shown here, the first: x: newer",
                "A record cannot be shown here: no name",
            ])
        #expect(try fixture.store.syncState.counts().passedOver == 2)
        try fixture.apply(fixture.page([StoreFixture.told("x", n: 1)]))
        try fixture.apply(fixture.page([StoreFixture.gone("y")]))
        #expect(try listed() == [])
    }

    @Test("they are asked for when the user retries, each once, also after a restart")
    func retry() throws {
        try passOver(["x", "y"])
        #expect(try due() == [])
        try fixture.store.syncState.retryParked()
        try fixture.reopen()
        #expect(try due() == ["x", "y"])
        try fixture.feed { (feed) throws(RecordError) in
            try feed.endRetry(of: [RecordName("x")], in: fixture.zone.id)
        }
        #expect(try due() == ["y"])
        #expect(try listed().count == 2)
    }

    @Test("they are asked for when the feed starts again, for it does not tell which are gone")
    func restarted() throws {
        try passOver(["x", "y"])
        try fixture.feed { (feed) throws(RecordError) in
            try feed.restartFeed(of: fixture.zone.id)
        }
        #expect(try due() == ["x", "y"])
        try fixture.apply(fixture.page([], token: "t", isLast: true))
        #expect(try listed().count == 2)
        // The answers: one is still there, and one is gone.
        try passOver(["x"])
        try fixture.apply(fixture.page([StoreFixture.gone("y")]))
        try fixture.feed { (feed) throws(RecordError) in
            try feed.endRetry(of: [RecordName("x")], in: fixture.zone.id)
        }
        #expect(try listed() == ["x: too large"] && due() == [])
    }

    @Test("a zone that goes takes them along")
    func zone() throws {
        try passOver(["x"])
        try fixture.feed { (feed) throws(RecordError) in
            try feed.removeZoneOfServer(fixture.zone.id)
        }
        #expect(try listed() == [] && due() == [])
        #expect(try fixture.store.syncState.counts().passedOver == 0)
    }
}
