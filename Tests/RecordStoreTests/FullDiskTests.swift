import RecordModel
import RecordSQL
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// Each operation on a disk that has room for no page, for one, for two and so on: it leaves all as
/// it was, or does all of it.
@Suite struct FullDiskTests {
    /// An operation, and what has to be there before it.
    struct Work: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var prepare: @Sendable (StoreFixture) throws -> Void = { _ in }
        let run: @Sendable (StoreFixture) throws -> Void
    }

    private static let long = String(repeating: "a long text ", count: 2_500)

    private static func id(_ fixture: StoreFixture, _ stem: String = "a") throws -> RecordID {
        try #require(try fixture.record(stem)).id
    }

    private static func text(_ number: Int) -> String { #"{"n":\#(number),"t":"\#(long)"}"# }

    static let records = [
        Work(testDescription: "a new record") { try $0.save("b", text(1)) },
        Work(testDescription: "other values") { try $0.save("a", text(7)) },
        Work(testDescription: "another layout") {
            try $0.save("a", text(1).replacing(":", with: " : "))
        },
        Work(testDescription: "a text with a new field") {
            try $0.save("b", #"{"fresh":2.5,"more":"\#(long)"}"#)
        },
        Work(testDescription: "a refused text") { _ = try $0.draft("a", "{" + long) },
        Work(testDescription: "a refused text of a new name") { _ = try $0.draft("c", "{" + long) },
        Work(testDescription: "a rename") { fixture in
            let id = try id(fixture)
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.records.rename(id, toType: fixture.note, stem: Stem("b"))
            }
        },
        Work(testDescription: "a deletion") { try $0.delete(id($0)) },
        Work(
            testDescription: "a deletion that waits becomes final",
            prepare: { try $0.beginDelete(id($0)) },
            run: {
                _ = try $0.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
            }),
        Work(
            testDescription: "a record from the trash", prepare: { try $0.delete(id($0)) },
            run: { fixture in
                let trash = try #require(try fixture.store.past.trash(in: fixture.note).first).id
                _ = try fixture.write(.restore) { transaction throws(RecordError) in
                    try transaction.records.restore(trash)
                }
            }),
        Work(
            testDescription: "many records of a moment",
            prepare: { fixture in
                for number in 0..<20 { try fixture.save("r\(number)", text(number)) }
                for number in 0..<20 { try fixture.save("r\(number)", #"{"n":0}"#) }
                for number in 0..<10 { try fixture.delete(id(fixture, "r\(number)")) }
            },
            run: { fixture in
                let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
                    try transaction.restore(RestoreScope(), to: .token(22))
                }
                #expect(plan.steps.count == 20)
            }),
        Work(
            testDescription: "a tree of records to another zone",
            prepare: { fixture in
                for number in 1...8 {
                    let parent = number == 1 ? "a" : "c\(number - 1)"
                    try fixture.save("c\(number)", #"{"t":"\#(long)","$parent":"\#(parent)"}"#)
                }
            },
            run: { fixture in
                let move = TreeMove(of: try id(fixture), to: .private, .me, ZoneName("Own"))
                let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
                    try transaction.moves.move(move)
                }
                #expect(plan.copies.count == 9)
            }),
        Work(
            testDescription: "a large field",
            run: { fixture in
                let id = try id(fixture)
                for number in 0..<40 {
                    try fixture.setAsset(id, "pics", number, bytes: "picture \(number)")
                }
            }),
    ]

    static let exchange = [
        Work(testDescription: "a page of the feed") { fixture in
            var changes = (0..<300).map { StoreFixture.told("r\($0)", n: Int64($0)) }
            changes.append(StoreFixture.gone("sent"))
            try fixture.apply(fixture.page(changes, token: "x", isLast: true))
        },
        Work(testDescription: "the server's edit of a record that was edited here") { fixture in
            try fixture.save("sent", #"{"n":2,"t":"mine"}"#)
            try fixture.upsert(
                "sent", ["n": .int64(3), "t": .string(Text(long))], tag: "t9")
        },
        Work(
            testDescription: "a zone that the server lost",
            prepare: { fixture in
                for number in 0..<10 {
                    try fixture.upsert("r\(number)", ["t": .string(Text("\(number) \(long)"))])
                }
            },
            run: { fixture in
                try fixture.feed { (feed) throws(RecordError) in
                    try feed.removeZoneOfServer(fixture.zone.id)
                }
            }),
        Work(
            testDescription: "a request that is kept",
            run: { fixture in
                try fixture.write(.sync) { transaction throws(RecordError) in
                    let claims = try transaction.outbox.claimOutbox(in: fixture.zone.id)
                    try transaction.outbox.keepRequest(
                        Array(long.utf8), batch: claims.first?.row.batch ?? 0,
                        in: fixture.zone.id)
                }
            }),
        Work(
            testDescription: "a conflict that is settled",
            prepare: { fixture in
                try fixture.save("sent", #"{"n":2}"#)
                try fixture.upsert("sent", ["n": .int64(3)], tag: "t9")
            },
            run: { fixture in
                let conflict = try #require(
                    try fixture.store.syncState.conflicts(in: fixture.zone.id).first)
                try fixture.write { transaction throws(RecordError) in
                    try transaction.merging.settle(
                        conflict.id, .text(Array(text(5).utf8), since: nil))
                }
            }),
    ]

    private static func prepared(_ work: Work) throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.save("a", text(1))
        try fixture.upsert("sent", ["n": .int64(1)])
        try work.prepare(fixture)
        fixture.clock.advance(.seconds(1))
        return fixture
    }

    /// Lets the database grow by so many pages; nil for as many as it needs.
    private func limit(_ fixture: StoreFixture, to pages: Int64?) throws {
        let writer = try #require(fixture.store.writer)
        try writer.use { connection throws(RecordError) in
            let used = try connection.first("PRAGMA page_count") { $0.int64(0) } ?? 0
            _ = try connection.first(
                "PRAGMA max_page_count = \(pages.map { used + $0 } ?? 1_000_000)"
            ) { $0.int64(0) }
        }
    }

    @Test("an operation on a full disk leaves all as it was, or is done", arguments: records)
    func work(_ work: Work) throws { try expectAllOrNothing(work) }

    @Test("so does one of the exchange with a server", arguments: exchange)
    func workOfExchange(_ work: Work) throws { try expectAllOrNothing(work) }

    private func expectAllOrNothing(_ work: Work) throws {
        let fixture = try Self.prepared(work)
        // The pages that are free would be taken first.
        _ = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        var failures = 0
        var isDone = false
        for pages in 0..<400 where !isDone {
            try limit(fixture, to: Int64(pages))
            _ = fixture.changes()
            let (rows, contents) = (try fixture.rows(), try fixture.contents())
            let isOneTransaction = try attempt(work, fixture)
            try limit(fixture, to: nil)
            isDone = isOneTransaction == nil
            guard let isOneTransaction else { continue }
            failures += 1
            if isOneTransaction {
                #expect(try fixture.rows() == rows, "with room for \(pages) pages")
                #expect(try fixture.contents() == contents)
            }
            try fixture.expectSound()
        }
        #expect(isDone)
        #expect(failures > 0, "the disk was never full")
        try fixture.expectSound()
        let twin = try Self.prepared(work)
        try work.run(twin)
        #expect(try fixture.contents() == twin.contents())
    }

    /// Runs the work. Returns nil when it is done; otherwise whether no transaction of it was
    /// committed.
    private func attempt(_ work: Work, _ fixture: StoreFixture) throws -> Bool? {
        let commits = fixture.store.commits
        do {
            try work.run(fixture)
            return nil
        } catch let error as RecordError {
            #expect(error.code == .noSpace, "\(error)")
            return fixture.store.commits == commits
        }
    }
}
