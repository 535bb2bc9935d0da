import Glibc
import RecordModel
import RecordSQL
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A full disk, as the tree meets it: texts that no save takes for a while stay in memory.
@Suite("Saves that fail, and what is saved after them")
struct FailedSaveTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(text(1), as: "n.json")
        try fixture.send()
    }

    private func text(_ number: Int) -> String { "{\"n\":\(number),\"f\(number)\":true}" }

    /// Fails each commit that changes a record, as SQLite does when its log cannot grow.
    private func fillDisk() throws { try fixture.failCommits() }

    private func empty() throws { try fixture.letCommitsPass() }

    private func fail(_ save: () throws -> Void) throws {
        try fillDisk()
        #expect(throws: RecordError.self) { try save() }
        try empty()
    }

    private func replace(_ name: String, with text: String) throws {
        try fixture.put(text, as: ".n.tmp")
        try fixture.rename(".n.tmp", to: name)
    }

    @Test("a replacement that fails leaves the file as it is for whoever reads and saves it next")
    func failedReplacement() throws {
        try fail { try replace("n.json", with: text(2)) }
        #expect(try fixture.text("n.json") == text(1))
        try fixture.put(text(3), as: "n.json")
        #expect(try fixture.text("n.json") == text(3))
        #expect(try fixture.lookup("n.json")?.attributes.size == Int64(text(3).utf8.count))
        try fixture.put(text(4), as: "n.json")
        #expect(try fixture.text("n.json") == text(4))
    }

    @Test("who has a file open whose replacement fails saves into it, and merges with nothing old")
    func openDuringFailure() throws {
        let handle = try fixture.openNew("n.json", flags: O_RDWR)
        defer { fixture.tree.release(handle) }
        try fail { try replace("n.json", with: text(2)) }
        #expect(try fixture.read(handle) == text(1))
        try fixture.put(text(3), as: "n.json")
        #expect(try fixture.read(handle) == text(3))
        // What is saved here after a replacement that succeeds is merged with it, since text 3.
        try replace("n.json", with: #"{"n":3,"f3":true,"new":1}"#)
        try fixture.write(text(4), to: handle)
        try fixture.tree.flush(handle)
        #expect(try fixture.text("n.json") == #"{"n":4,"f4":true,"new":1}"#)
    }

    /// What is done with a name, and acknowledged, after a save of it has failed.
    enum Act: CaseIterable, Sendable {
        case save, replace, renameRecord, exchange, removal, refusedReplacement, commandLine
    }

    @Test("a save that has failed is not tried again over a later one", arguments: Act.allCases)
    func laterSave(act: Act) throws {
        try fail { try fixture.put(text(2), as: "n.json") }
        #expect(try fixture.text("n.json") == text(2))
        try perform(act)
        let shown = try fixture.text("n.json")
        #expect(shown == expected(act))
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text("n.json") == shown)
        #expect(fixture.tree.unsavedCount == 0)
        try expectNoLater(act)
    }

    @Test("nor one of a name that was new", arguments: Act.allCases)
    func laterSaveOfNewName(act: Act) throws {
        try fixture.remove("n.json")
        try fixture.finishDeletes()
        try fail { try fixture.put(text(2), as: "n.json") }
        try perform(act)
        let shown = try fixture.text("n.json")
        #expect(shown == expected(act))
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text("n.json") == shown)
        #expect(fixture.tree.unsavedCount == 0)
        try expectNoLater(act)
    }

    private func perform(_ act: Act) throws {
        switch act {
        case .save: try fixture.put(text(3), as: "n.json")
        case .replace: try replace("n.json", with: text(3))
        case .renameRecord:
            try fixture.put(text(3), as: "o.json")
            try fixture.rename("o.json", to: "n.json")
        case .exchange:
            try fixture.put(text(3), as: ".n.tmp")
            try fixture.rename(".n.tmp", to: "n.json", flags: 2)
        case .removal: try fixture.remove("n.json")
        case .commandLine:
            let place = try fixture.note
            let text = text(3)
            _ = try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                try transaction.records.save(text: text.b, type: place.id, stem: Stem("n"))
            }
        case .refusedReplacement:
            #expect(throws: RecordError.self) { try replace("n.json", with: "no JSON") }
        }
    }

    private func expected(_ act: Act) -> String? {
        switch act {
        case .save, .replace, .renameRecord, .exchange, .commandLine: text(3)
        case .removal: nil
        case .refusedReplacement: "no JSON"
        }
    }

    private func expectNoLater(_ act: Act) throws {
        try fixture.finishDeletes()
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text("n.json") == expected(act))
        if act == .exchange { #expect(try fixture.text(".n.tmp") == text(2)) }
    }

    @Test("a save that has failed is merged with what comes from the server, once it succeeds")
    func laterChangeElsewhere() throws {
        try fail { try fixture.put(#"{"n":1,"f1":true,"mine":2}"#, as: "n.json") }
        let fields = [
            RecordField(name: FieldName("n"), value: .int64(5)),
            RecordField(name: FieldName("f1"), value: .int64(1)),
        ]
        try fixture.receive(.upsert(fields, parent: nil), name: "n")
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text("n.json")?.contains(#""mine":2"#) == true)
    }

    @Test("of two failed saves of a name the later one has the last word")
    func twoFailures() throws {
        try fail { try fixture.put(text(2), as: "n.json") }
        fixture.clock.advance(.seconds(1))
        let elsewhere = RecordField(name: FieldName("elsewhere"), value: .int64(1))
        try fixture.receive(.upsert([elsewhere], parent: nil), name: "n")
        try fail { try fixture.put(text(3), as: "n.json") }
        #expect(fixture.tree.unsavedCount == 2)
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text("n.json")?.contains(#""n":3"#) == true)
    }
}

extension TreeFixture {
    private func change(_ statements: String) throws {
        let queue = try SQLQueue(path: directory + "/store.sqlite")
        try queue.use { connection throws(RecordError) in try connection.execute(statements) }
        try queue.close()
    }

    /// Each change of a record breaks a promise that is asked for at the commit.
    func failCommits() throws {
        try change(
            """
            CREATE TABLE promise (
                id INTEGER PRIMARY KEY,
                broken INTEGER REFERENCES promise (id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TRIGGER failing_update AFTER UPDATE ON record
            BEGIN INSERT INTO promise (broken) VALUES (-1); END;
            CREATE TRIGGER failing_insert AFTER INSERT ON record
            BEGIN INSERT INTO promise (broken) VALUES (-1); END;
            CREATE TRIGGER failing_asset AFTER UPDATE ON asset
            BEGIN INSERT INTO promise (broken) VALUES (-1); END;
            """)
    }

    func letCommitsPass() throws {
        try change(
            """
            DROP TRIGGER failing_update;
            DROP TRIGGER failing_insert;
            DROP TRIGGER failing_asset;
            DROP TABLE promise;
            """)
    }

    fileprivate func finishDeletes() throws { try tree.synchronizeDirectory(notes) }
}
