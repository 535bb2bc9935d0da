import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// The events of the exchange, as the store keeps them.
@Suite struct KeptEventsTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func kept() throws -> [SyncEvent] {
        try fixture.store.syncState.syncEvents(after: 0, limit: 100)
    }

    private func event(_ records: Int64 = 0, start: Int64 = 3, end: Int64? = nil) -> SyncEvent {
        SyncEvent(
            .export, .private, fixture.zone.id, start: .init(seconds: start),
            end: end.map { .init(seconds: $0) }, records: records)
    }

    private func begin() throws -> Int64 {
        try fixture.feed { (feed) throws(RecordError) in try feed.begin(event()) }
    }

    @Test("events are numbered, kept, told to observers, and read on from the last one seen")
    func events() throws {
        #expect(try fixture.store.syncState.lastSyncEvent() == 0)
        let sent = [
            SyncEvent(.setup, .private, nil, start: .init(seconds: 1), end: .init(seconds: 2)),
            SyncEvent(
                .export, .shared, fixture.zone.id, start: .init(seconds: 3),
                end: .init(seconds: 4), records: 5, error: "no route"),
        ]
        _ = fixture.changes()
        try fixture.feed { (feed) throws(RecordError) in
            for event in sent { try feed.note(event) }
        }
        let heard = fixture.changes()
        #expect(heard.map(\.kind) == [.exchanged, .exchanged])
        #expect(heard.map(\.zone) == [ZoneID(0), fixture.zone.id])
        let kept = try fixture.store.syncState.syncEvents(after: 0, limit: 10)
        #expect(kept == heard.compactMap(\.exchange))
        #expect(kept.map(\.id) == [1, 2])
        var numbered = sent
        for index in sent.indices { numbered[index].id = Int64(index + 1) }
        #expect(kept == numbered)
        #expect(try fixture.store.syncState.syncEvents(after: 1, limit: 10) == [numbered[1]])
        #expect(try fixture.store.syncState.syncEvents(after: 0, limit: 1) == [numbered[0]])
        #expect(try fixture.store.syncState.lastSyncEvent() == 2)
    }

    @Test("of the events the last ten thousand are kept")
    func keptEvents() throws {
        let event = SyncEvent(
            .import, .private, nil, start: .init(seconds: 1), end: .init(seconds: 1))
        try fixture.feed { (feed) throws(RecordError) in
            for _ in 0..<10_003 { try feed.note(event) }
        }
        #expect(
            try fixture.store.syncState.syncEvents(after: 0, limit: 20_000).map(\.id)
                == Array(4...10_003))
    }

    @Test("an exchange that runs is an event without an end, which its end replaces")
    func running() throws {
        _ = fixture.changes()
        let begun = try begin()
        #expect(fixture.changes().isEmpty, "observers hear of an exchange when it is over")
        #expect(try kept().map(\.end) == [nil])
        #expect(try kept().map(\.isRunning) == [true])
        try fixture.feed { (feed) throws(RecordError) in
            try feed.end(event(2, end: 4), begun: begun)
        }
        let last = try #require(try kept().first)
        #expect(try kept().count == 1)
        #expect(last.id > begun && last.begun == begun && last.records == 2)
        #expect(last.end == .init(seconds: 4) && !last.isRunning)
        #expect(fixture.changes().compactMap(\.exchange) == [last])
    }

    @Test("an exchange that has done nothing leaves no event")
    func nothing() throws {
        let begun = try begin()
        try fixture.feed { (feed) throws(RecordError) in try feed.forget(begun: begun) }
        #expect(try kept() == [])
    }

    @Test("what a killed process has left running has failed, for a reader at once")
    func killed() throws {
        let begun = try begin()
        let reader = try RecordStore.openForReading(directory: fixture.directory)
        #expect(
            try reader.syncState.syncEvents(after: 0, limit: 9).map(\.isRunning) == [true],
            "its process runs")
        try reader.close()
        try fixture.whileClosed { _ in
            let reader = try RecordStore.openForReading(directory: fixture.directory)
            let left = try reader.syncState.syncEvents(after: 0, limit: 9)
            try reader.close()
            #expect(left.map(\.error) == [SyncEvent.interruption])
            #expect(left.map(\.end) == [nil] && left.map(\.id) == [begun])
        }
        let ended = try #require(try kept().first)
        #expect(try kept().count == 1)
        #expect(ended.error == SyncEvent.interruption && !ended.isRunning && ended.end == nil)
        #expect(ended.id > begun && ended.begun == begun)
        try fixture.reopen()
        #expect(try kept() == [ended], "once")
    }

    @Test("an event can be about a record")
    func record() throws {
        var refusal = event(end: 4)
        refusal.record = SyncEvent.Record(RecordTypeName("Note"), RecordName(bytes: [0xFF, 0x2F]))
        try fixture.feed { (feed) throws(RecordError) in try feed.note(refusal) }
        #expect(try kept().map(\.record) == [refusal.record])
    }
}
