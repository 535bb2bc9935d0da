import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

@Suite struct GestureTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Lets the running gestures end.
    private func pause() { fixture.clock.advance(Gesture.pause + .milliseconds(1)) }

    private func undo(_ choice: GestureChoice = .latest(1)) throws -> [UndoneGesture] {
        let rehearsal = try fixture.store.rehearse(author: .commandLine) {
            transaction throws(RecordError) in
            try transaction.undoing.undo(choice)
        }
        let done = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.undoing.undo(choice)
        }
        #expect(
            rehearsal.map { $0.records.map(\.effect) } == done.map { $0.records.map(\.effect) },
            "the rehearsal says what is done")
        return done
    }

    private func redo(_ count: Int = 1) throws -> [UndoneGesture] {
        try undo(.latestUndone(count))
    }

    @Test("a save is taken back, then the one before, and forward again")
    func stack() throws {
        for text in [#"{"n":1}"#, #"{"n":2}"#, #"{ "n": 3 }"#] {
            try fixture.program(7) { _ = try fixture.save("a", text) }
            pause()
        }
        let first = try undo()
        #expect(first.count == 1 && first[0].gesture.tool == "vim")
        #expect(first[0].records.map(\.effect) == [.changed([FieldName("n")])])
        #expect(try fixture.text("a") == #"{"n":2}"#)
        _ = try undo()
        #expect(try fixture.text("a") == #"{"n":1}"#)
        _ = try undo()
        #expect(try fixture.record("a") == nil)
        let error = #expect(throws: RecordError.self) { try undo() }
        #expect(error?.code == .notFound)
        _ = try redo()
        #expect(try fixture.text("a") == #"{"n":1}"#)
        #expect(try redo(5).count == 2)
        #expect(try fixture.text("a") == #"{ "n": 3 }"#, "as it was written")
        #expect(throws: RecordError.self) { try redo() }
        _ = try undo(.latest(2))
        #expect(try fixture.text("a") == #"{"n":1}"#)
        try fixture.expectSound()
    }

    @Test("what one program does without a pause is one gesture, whatever others do meanwhile")
    func oneGesture() throws {
        for n in 0..<20 {
            try fixture.program(7, "cp") { _ = try fixture.save("a\(n)", #"{"n":1}"#) }
            try fixture.program(8) { _ = try fixture.save("b\(n)", #"{"n":1}"#) }
            fixture.clock.advance(.seconds(1))
        }
        pause()
        try fixture.program(7, "cp") { _ = try fixture.save("c", #"{"n":1}"#) }
        #expect(try undo()[0].records.map(\.stem) == [Stem("c")])
        let b = try undo()
        #expect(
            b[0].changed == 20 && b[0].records.allSatisfy { $0.stem.description.hasPrefix("b") })
        #expect(try fixture.record("a3") != nil && fixture.record("b3") == nil)
        #expect(try undo()[0].changed == 20)
        #expect(try fixture.record("a3") == nil)
    }

    @Test("the commands of a loop are one gesture, and what runs beside them is another one")
    func loop() throws {
        func save(_ stem: String, _ group: Int32, running: Set<Int32>) throws {
            try fixture.program(group, "jq", isRunning: { running.contains($0) }) {
                _ = try fixture.save(stem, #"{"n":1}"#)
            }
            fixture.clock.advance(.milliseconds(100))
        }
        try save("beside", 9, running: [9])
        for group in Int32(10)..<20 { try save("a\(group)", group, running: [9, group]) }
        fixture.clock.advance(Gesture.loopPause)
        try save("later", 20, running: [9, 20])
        #expect(try undo()[0].records.map(\.stem) == [Stem("later")])
        #expect(try undo()[0].records.count == 10)
        #expect(try undo()[0].records.map(\.stem) == [Stem("beside")])
    }

    @Test("the store's own work and what comes from elsewhere are never the last thing")
    func background() throws {
        try fixture.program(7) { _ = try fixture.save("a", #"{"n":1}"#) }
        pause()
        _ = try fixture.save("b", #"{"n":1}"#)
        try fixture.program(8) { _ = try fixture.save("c", #"{"n":1}"#, author: .sync) }
        #expect(try undo()[0].records.map(\.stem) == [Stem("a")])
        #expect(throws: RecordError.self) { try undo() }
        let token = try fixture.store.past.lastToken()
        #expect(throws: RecordError.self) { try undo(.ofToken(token + 1)) }
    }

    @Test("what others have changed between two saves of a gesture stays")
    func othersBetween() throws {
        _ = try fixture.save("a", #"{"n":1,"m":1}"#)
        pause()
        try fixture.program(7) {
            _ = try fixture.save("a", #"{"n":2,"m":1}"#)
            _ = try fixture.save("b", #"{"n":2}"#)
        }
        _ = try fixture.save("a", #"{"n":2,"m":9}"#, author: .sync)
        _ = try fixture.save("b", #"{"n":2,"m":9}"#, author: .sync)
        try fixture.program(7) {
            _ = try fixture.save("a", #"{"n":3,"m":9}"#)
            _ = try fixture.save("b", #"{"n":3,"m":9}"#)
        }
        let effects = try undo()[0].records.map(\.effect)
        #expect(effects == [.changed([FieldName("n")]), .none(.changedSince)])
        #expect(try fixture.text("a") == #"{"n":1,"m":9}"#)
        #expect(try fixture.text("b") == #"{"n":3,"m":9}"#)
    }

    @Test("an undo brings back the record that was removed, and not a later one of its name")
    func laterOfName() throws {
        _ = try fixture.save("a", #"{"n":1}"#)
        pause()
        try fixture.program(7, "rm") { try fixture.delete(#require(try fixture.record("a")).id) }
        pause()
        try fixture.program(8) { _ = try fixture.save("a", #"{"n":2}"#) }
        pause()
        #expect(try undo()[0].records.map(\.effect) == [.removed])
        #expect(try undo()[0].records.map(\.effect) == [.broughtBack])
        #expect(try fixture.text("a") == #"{"n":1}"#)
        _ = try redo(2)
        #expect(try fixture.text("a") == #"{"n":2}"#)
        try fixture.expectSound()
    }

    @Test("what was removed comes back while its deletion waits, and when it is final")
    func removal() throws {
        for stem in ["a", "b"] { _ = try fixture.save(stem, #"{"n":1}"#) }
        for isFinal in [false, true] {
            try fixture.program(7, "rm") {
                for stem in ["a", "b"] {
                    try fixture.beginDelete(try #require(try fixture.record(stem)).id)
                }
            }
            pause()
            if isFinal {
                fixture.clock.advance(.seconds(60))
                _ = try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount)
                #expect(try fixture.store.syncState.counts().trash == 2)
            }
            let undone = try undo()
            #expect(undone[0].records.map(\.effect) == [.broughtBack, .broughtBack])
            #expect(undone[0].gesture.tool == "rm")
            #expect(try fixture.text("a") == #"{"n":1}"# && fixture.text("b") == #"{"n":1}"#)
            #expect(try fixture.store.syncState.counts().trash == 0)
            _ = try redo()
            #expect(try fixture.record("a") == nil && fixture.record("b") == nil)
            _ = try undo()
            #expect(try fixture.text("a") == #"{"n":1}"#)
            pause()
        }
        try fixture.expectSound()
    }

    @Test("a value that was changed since stays, and the others go back")
    func changedSince() throws {
        _ = try fixture.save("a", #"{"n":1,"m":1,"k":1}"#)
        _ = try fixture.save("b", #"{"n":1}"#)
        try fixture.program(7, "sed") {
            _ = try fixture.save("a", #"{"n":2,"m":2,"k":1}"#)
            _ = try fixture.save("b", #"{"n":2}"#)
            _ = try fixture.save("c", #"{"n":2}"#)
        }
        pause()
        _ = try fixture.save("a", #"{"n":3,"m":2,"k":4}"#, author: .sync)
        _ = try fixture.save("b", #"{"n":3}"#, author: .sync)
        _ = try fixture.save("c", #"{"n":3}"#, author: .sync)
        let undone = try undo()[0].records
        #expect(
            undone.map(\.effect) == [
                .changed([FieldName("m")]), .none(.changedSince), .none(.changedSince),
            ])
        #expect(undone.map(\.left) == [[FieldName("n")], [FieldName("n")], []])
        #expect(try fixture.text("a") == #"{"n":3,"m":1,"k":4}"#)
        #expect(try fixture.text("b") == #"{"n":3}"# && fixture.text("c") == #"{"n":3}"#)
        _ = try redo()
        #expect(try fixture.text("a") == #"{"n":3,"m":2,"k":4}"#)
    }

    @Test("a change and a removal in one gesture go back to what was before both")
    func changedAndRemoved() throws {
        _ = try fixture.save("a", #"{"n":1}"#)
        _ = try fixture.save("b", #"{"n":1}"#)
        try fixture.program(7) {
            _ = try fixture.save("a", #"{"n":2}"#)
            try fixture.delete(try #require(try fixture.record("a")).id)
            _ = try fixture.save("b", #"{"n":2}"#)
            try fixture.beginDelete(try #require(try fixture.record("b")).id)
            let passing = try fixture.save("c", #"{"n":2}"#)
            try fixture.delete(passing.id)
        }
        pause()
        let undone = try undo()[0].records
        #expect(Set(undone.map(\.stem)) == [Stem("a"), Stem("b")])
        #expect(try fixture.text("a") == #"{"n":1}"# && fixture.text("b") == #"{"n":1}"#)
        #expect(try fixture.record("c") == nil)
    }

    @Test("what cannot be taken back is left, with the reason")
    func left() throws {
        for stem in ["a", "b", "d"] { _ = try fixture.save(stem, #"{"n":1}"#) }
        try fixture.program(7) {
            _ = try fixture.save("a", #"{"n":2}"#)
            try fixture.delete(try #require(try fixture.record("b")).id)
            _ = try fixture.save("d", #"{"n":2}"#)
            _ = try fixture.save("e", #"{"n":2}"#)
        }
        pause()
        try fixture.delete(try #require(try fixture.record("a")).id)
        _ = try fixture.save("b", #"{"n":9}"#)
        _ = try fixture.draft("e", "{")
        let undone = try undo()[0].records
        func effect(_ stem: String) -> UndoneRecord.Effect? {
            undone.first { $0.stem == Stem(stem) }?.effect
        }
        #expect(effect("a") == .none(.removedSince) && effect("b") == .none(.nameIsTaken))
        #expect(effect("d") == .changed([FieldName("n")]) && effect("e") == .none(.hasDraft))
        #expect(try fixture.text("b") == #"{"n":9}"#)
        #expect(try fixture.text("e") == "{")
    }

    @Test("something new after an undo ends the way forward, except by name")
    func redoAfterChange() throws {
        try fixture.program(7) { _ = try fixture.save("a", #"{"n":1}"#) }
        pause()
        _ = try undo()
        let token = try fixture.store.past.lastToken()
        pause()
        try fixture.program(7) { _ = try fixture.save("b", #"{"n":1}"#) }
        #expect(throws: RecordError.self) { try redo() }
        _ = try undo(.ofToken(token))
        #expect(try fixture.text("a") == #"{"n":1}"#)
        #expect(throws: RecordError.self) { try undo(.ofToken(token)) }
    }

    @Test("an undo after a restart knows what was done before")
    func restart() throws {
        try fixture.program(7) { _ = try fixture.save("a", #"{"n":1}"#) }
        try fixture.reopen()
        try fixture.program(7) { _ = try fixture.save("b", #"{"n":1}"#) }
        #expect(try undo(.latest(9)).map { $0.records.map(\.stem) } == [[Stem("b")], [Stem("a")]])
    }

    @Test("what a server has is told as sent, and nothing without an account")
    func sent() throws {
        /// Saves one record, removes another for good, and returns what undo says of both.
        func sent(_ isSent: Bool) throws -> Int {
            _ = try fixture.save("b", #"{"n":1}"#)
            try fixture.sendAll()
            try fixture.program(7) {
                _ = try fixture.save("a", #"{"n":1}"#)
                try fixture.beginDelete(try #require(try fixture.record("b")).id)
            }
            fixture.clock.advance(.seconds(60))
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount)
            if isSent { try fixture.sendAll() }
            let undone = try undo()[0]
            #expect(undone.changed == 2)
            return undone.sent
        }
        #expect(try sent(false) == 0 && sent(true) == 0, "nobody has signed in")
        try fixture.store.setOwner(
            StoreOwner(
                server: "https://records.example.org", container: "iCloud.org.example",
                environment: "production", user: "_ada", profile: "recordfs"))
        #expect(try sent(false) == 0)
        #expect(try sent(true) == 2)
    }
}
