import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

@Suite struct CheckTests {
    @Test(
        "the check finds each kind of damage to the rows",
        arguments: [
            ("UPDATE record SET version = 99", "without a text"),
            ("UPDATE record SET name = NULL WHERE stem = x'61'", "without a name"),
            ("UPDATE record SET flags = flags | 1 WHERE stem = x'61'", "draft flag"),
            ("UPDATE record SET state = 2 WHERE stem = x'61'", "without a time"),
            ("UPDATE record SET flags = flags | 4 WHERE stem = x'61'", "still to come"),
            ("UPDATE record SET size = 77 WHERE stem = x'61'", "size"),
            ("UPDATE outbox SET record_id = 9999", "has no record"),
            ("UPDATE history SET text = x'7b'", "The text of record a is damaged"),
            ("UPDATE record SET state = 9 WHERE stem = x'61'", "unknown state"),
            ("DELETE FROM meta WHERE key = 'nextRecord'", "counter nextRecord"),
            ("UPDATE meta SET value = 1 WHERE key = 'nextRecord'", "given to another"),
            ("UPDATE history SET kind = 'x'", "unknown kind"),
            ("UPDATE outbox SET sent = 99", "that is not in history"),
            (
                "INSERT INTO base (record_id, change_tag, version) SELECT id, 't', 99 FROM record",
                "that the server has is not in its history"
            ),
        ])
    func damage(_ statement: String, _ words: String) throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        try fixture.expectSound()
        try fixture.write { transaction throws(RecordError) in
            try transaction.connection.run(statement)
        }
        let problems = try fixture.store.upkeep.integrityCheck(deep: true)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test("a whole text that is no record of its type is told")
    func content() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.putText(id, Array(#"{"n":""}"#.utf8))
            try transaction.connection.run("UPDATE record SET size = 8")
        }
        let problems = try fixture.store.upkeep.integrityCheck(deep: true)
        #expect(problems.contains { $0.contains("record a is refused") }, "\(problems)")
    }

    @Test("a row that refers to a missing one is refused")
    func foreignKeys() throws {
        let fixture = try StoreFixture()
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.connection.run(
                    "INSERT INTO record_text (record_id, text) VALUES (4711, x'7b7d')")
            }
        }
        #expect(error?.code == .ioFailure)
        try fixture.expectSound()
    }

    @Test("figures count what is saved, pending, drafted, trashed and kept of the past")
    func counts() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", "{}")
        let start = fixture.clock.now
        fixture.clock.advance(.seconds(5))
        try fixture.save("b", "{}")
        _ = try fixture.draft("c", "{")
        try fixture.beginDelete(try fixture.save("d", "{}").id)
        let counts = try fixture.store.syncState.counts()
        let zone = try #require(counts.zones.first { $0.zone == fixture.zone.id })
        #expect(zone.records == 2)
        #expect(zone.pending == 3)
        #expect(zone.oldestPending == start)
        #expect(zone.drafts == 1)
        #expect(counts.trash == 0)
        #expect(counts.historyRows == 3)
        #expect(counts.databaseBytes > 0)
    }
}
