import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

/// The notices of observers about files that lose their names, and of names that change.
@Suite struct FileObserverTests {
    private let fixture: StoreFixture
    private let id: RecordID
    private let heard = Heard()

    final class Heard: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    init() throws {
        fixture = try StoreFixture()
        id = try fixture.save("a", #"{"n":1}"#).id
        let heard = heard
        fixture.store.observeReplacements { files, moment in
            for file in files {
                let text = String(decoding: file.text, as: UTF8.self)
                heard.add("\(file.entry.stem) \(file.effect) \(text) \(moment)")
            }
        }
        fixture.store.observeStems { changes in
            for change in changes { heard.add("\(change.former) is \(change.stem)") }
        }
    }

    enum Change: CaseIterable {
        case saved, savedInPlace, savedAsItWas, renamedOver, removed, told, toldSame, draft, failed
    }

    @Test(
        "who has a file open hears its text before and after the commit that takes its name",
        arguments: Change.allCases)
    func replaced(_ change: Change) throws {
        let before = try #require(try fixture.record("a")).file
        func save(_ text: String, _ effect: FileEffect) throws {
            try fixture.write { transaction throws(RecordError) in
                _ = try transaction.records.save(
                    text: Array(text.utf8), type: fixture.note, stem: Stem("a"), effect: effect)
            }
        }
        var effect: FileEffect? = .replaced
        switch change {
        case .saved: try save(#"{"n":2}"#, .replaced)
        case .savedInPlace:
            try save(#"{"n":2}"#, .inPlace)
            effect = nil
        case .savedAsItWas:
            try save(#"{"n":1}"#, .replaced)
            effect = nil
        case .renamedOver:
            try save(#"{"n":1}"#, .renamedOver)
            effect = .renamedOver
        case .removed:
            try fixture.delete(id)
            effect = .removed
        case .told: try fixture.upsert("a", ["n": .int64(1), "m": .int64(5)])
        case .toldSame:
            try fixture.upsert("a", ["n": .int64(1)])
            effect = nil
        case .draft: _ = try fixture.draft("a", "{ half")
        case .failed:
            _ = failure {
                try fixture.write { transaction throws(RecordError) in
                    try transaction.records.beginDelete(id)
                    throw RecordError(.interrupted, "stop")
                }
            }
            effect = nil
        }
        let told = effect.map { effect in ["begins", "done"].map { "a \(effect) {\"n\":1} \($0)" } }
        #expect(heard.take() == told ?? [])
        let after = try fixture.record("a")?.file
        #expect(after == nil || (after == before) == (effect == nil))
    }

    @Test("a name that another type's record takes or leaves is told of with the commit")
    func stems() throws {
        try fixture.upsert("x:Note", ["n": .int64(1)])
        #expect(heard.take() == [])
        try fixture.upsert("x", ["n": .int64(2)])
        #expect(heard.take() == ["x is x:Note"])
        try fixture.remoteDelete("x")
        #expect(heard.take().filter { $0.contains(" is ") } == ["x:Note is x"])
    }
}
