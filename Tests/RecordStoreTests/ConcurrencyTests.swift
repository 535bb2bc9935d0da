import Foundation
import RecordModel
import RecordStore
import Synchronization
import Testing

@Suite struct ConcurrencyTests {
    @Test("readers beside two writers see each record whole, and every save arrives")
    func readersAndWriters() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let note = fixture.note
        let problems = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for number in 0..<200 {
                do {
                    if worker < 2 {
                        let text = #"{"w":\#(worker),"n":\#(number),"m":\#(number)}"#
                        try store.write(author: .mount) { transaction throws(RecordError) in
                            for name in ["shared", "w\(worker)-\(number)"] {
                                _ = try transaction.records.save(
                                    text: Array(text.utf8), type: note, stem: Stem(name))
                            }
                        }
                    } else {
                        try Self.expectWhole(store, note, problems)
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(try store.records(in: note, limit: 1000).count == 401)
        #expect(try fixture.kinds("shared").count == 400)
        try fixture.expectSound()
    }

    private static func expectWhole(
        _ store: RecordStore, _ note: TypeID, _ problems: borrowing Mutex<[String]>
    ) throws {
        guard let entry = try store.record(note, Stem("shared")),
            let text = try store.text(of: entry.id)
        else { return }
        let root = try JSONParser.parse(text)
        if root["n"]?.int64 != root["m"]?.int64 {
            problems.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
        }
    }

    @Test("numbers reserved on several threads are all different")
    func reservedNumbers() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let seen = Mutex<[RecordID]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<600 {
                guard let id = failureOr({ try store.reserveRecordID() }) else { continue }
                seen.withLock { $0.append(id) }
            }
        }
        let ids = seen.withLock { $0 }
        #expect(ids.count == 2400)
        #expect(Set(ids).count == 2400)
    }

    @Test("observers hear of each commit once, after it")
    func observers() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let wrong = Mutex(0)
        store.observe { changes in
            for change in changes {
                guard let record = change.record, change.kind == .created else { continue }
                // The committing thread may read here: no lock is held.
                if failureOr({ try store.record(record) }) == nil { wrong.withLock { $0 += 1 } }
            }
        }
        try fixture.save("a", "{}")
        try fixture.save("b", "{}")
        #expect(fixture.changes().map(\.kind) == [.created, .created])
        #expect(wrong.withLock { $0 } == 0)
    }
}

/// The result, nil after an error.
private func failureOr<T>(_ body: () throws -> T?) -> T? {
    do { return try body() } catch { return nil }
}
