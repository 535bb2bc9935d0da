import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// The file of a record is the same on all machines, byte for byte, and not in its values alone.
@Suite struct FileTextTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    /// These files are on both machines, and on one that comes later.
    private func expectFiles(_ files: [String: String]) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in [a, b, fresh] {
            #expect(try replica.files() == files)
            #expect(try replica.outbox() == [])
            try replica.expectSound()
        }
    }

    /// Which of the requests that upload had the text of a file.
    private func textsSent(by replica: Replica) -> Int {
        replica.wire.takeBodies(of: .recordsModify).count { $0.contains("\"fileText\"") }
    }

    @Test(
        "a file arrives as it was written",
        arguments: [
            #"{"b":1,"a":2}"#, "\n{ \"p\" : 1.0,\t\"q\":[ 1,2 ] }\n\n", #"{"yes":true,"no":false}"#,
            "{\r\n  \"p\": \"\\u00e9\\/\"\r\n}\r\n", #"{"gone":null,"p":1e2}"#,
            "{\n  \"p\": 1\n}\n",
            "\u{FEFF}{}", #"{"big":12345678901234567890.0,"n":-0}"#,
        ])
    func arrives(text: String) async throws {
        try a.save("x", text)
        try await syncAll()
        try await expectFiles(["x": text])
    }

    @Test("a date in quotes is a date where nobody has seen the field before, and stays in quotes")
    func plainForms() async throws {
        try a.save("x", #"{"due":{"$timestamp":"2026-11-23T10:00:00.000Z"}}"#)
        try a.save("y", #"{"due":"2026-11-24T10:00:00.000Z"}"#)
        try await syncAll()
        try await expectFiles([
            "x": #"{"due":{"$timestamp":"2026-11-23T10:00:00.000Z"}}"#,
            "y": #"{"due":"2026-11-24T10:00:00.000Z"}"#,
        ])
        // Of one record alone too.
        try a.delete("x")
        try await syncAll()
        try await expectFiles(["y": #"{"due":"2026-11-24T10:00:00.000Z"}"#])
    }

    @Test("a file that is only written anew arrives, and is no new version")
    func writtenAnew() async throws {
        try a.save("x", #"{"p":1,"q":2}"#)
        try await syncAll()
        for (number, text) in [
            "{ \"q\": 2, \"p\": 1 }", "{\n  \"p\": 1,\n  \"q\": 2\n}\n", #"{"p":1,"q":2}"#,
        ].enumerated() {
            try (number == 1 ? b : a).save("x", text)
            try await syncAll()
            try await expectFiles(["x": text])
        }
        let box = try #require(try a.store.zone(.private, .me, ZoneName("Box")))
        #expect(try a.store.past.history(of: RecordName("x"), in: box.id).count == 1)
    }

    @Test("what was written anew before the server has told of the last save stays")
    func beforeTheEcho() async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try a.save("x", #"{ "p": 1 }"#)
        try await syncAll()
        try await expectFiles(["x": #"{ "p": 1 }"#])
    }

    @Test("an edit on one machine keeps what the other has written around it")
    func editKeepsText() async throws {
        try a.save("x", "{ \"q\": 1.0,\n\"p\": 1 }\n")
        try await syncAll()
        try b.save("x", "{ \"q\": 1.0,\n\"p\": 2 }\n")
        try a.save("y", "{}")
        try await syncAll()
        try await expectFiles(["x": "{ \"q\": 1.0,\n\"p\": 2 }\n", "y": "{}"])
    }

    @Test("an edit and another way to write the file, at the same time, are both there")
    func editAndFormat() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncAll()
        try a.save("x", #"{ "q": 1, "p": 1 }"#)
        try b.save("x", #"{"p":2,"q":1}"#)
        try await syncAll()
        let file = try #require(try a.file("x"))
        #expect(try a.text("x") == #"{"p":2,"q":1}"#)
        try await expectFiles(["x": file])
    }

    @Test("two ways to write a file, at the same time, become one")
    func twoFormats() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncAll()
        try a.save("x", #"{ "q": 1, "p": 1 }"#)
        try b.save("x", "{\n\"p\":1,\n\"q\":1}")
        try await syncAll()
        let file = try #require(try a.file("x"))
        #expect([#"{ "q": 1, "p": 1 }"#, "{\n\"p\":1,\n\"q\":1}"].contains(file))
        try await expectFiles(["x": file])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("what a program that knows values alone has written, all machines print the same")
    func valuesAlone() async throws {
        let program = try Replica(server) { $0.hasExtensions = false }
        try a.save("x", #"{"q":1,"p":1}"#)
        try await syncAll()
        try await program.sync()
        try program.save("x", #"{"q":1,"p":2,"r":{"$timestamp":"2026-11-23T10:00:00.000Z"}}"#)
        try program.save("new", #"{"z":1,"a":true}"#)
        try await program.sync()
        try await syncAll()
        let files = try a.files()
        #expect(
            files["x"] == """
                {
                  "q": 1,
                  "p": 2,
                  "r": {
                    "$timestamp": "2026-11-23T10:00:00.000Z"
                  }
                }

                """)
        #expect(files["new"] == "{\n  \"z\": 1,\n  \"a\": 1\n}\n")
        try await expectFiles(files)
    }

    @Test("fields that were put in another order stay in it, also after an edit")
    func order() async throws {
        try a.save("x", "{\n  \"p\": 1,\n  \"q\": 1\n}\n")
        try await syncAll()
        try a.save("x", "{\n  \"q\": 1,\n  \"p\": 2\n}\n")
        try await syncAll()
        try a.save("x", "{\n  \"q\": 2,\n  \"p\": 2\n}\n")
        try await syncAll()
        try await expectFiles(["x": "{\n  \"q\": 2,\n  \"p\": 2\n}\n"])
    }

    @Test("a text is sent where it is needed alone")
    func sentWhereNeeded() async throws {
        _ = a.wire.takeSent()
        try a.save("x", "{\n  \"p\": 1,\n  \"q\": 1\n}\n")
        try await syncAll()
        try a.save("x", "{\n  \"p\": 1,\n  \"q\": 2,\n  \"r\": 1\n}\n")
        try await syncAll()
        #expect(textsSent(by: a) == 0)
        try a.save("x", "{\n  \"r\": 1,\n  \"p\": 1,\n  \"q\": 2\n}\n")
        try await syncAll()
        #expect(textsSent(by: a) == 1)
        let plain = try Replica(server) { $0.hasExtensions = false }
        try plain.save("y", #"{"b":1,"a":1}"#)
        try await plain.sync()
        #expect(textsSent(by: plain) == 0)
    }

    @Test(
        "another way to write a file that did not get through is sent again",
        arguments: [CoreTransport.Fault.requestLost, .answerLost, .crash(isAnswered: false)])
    func lost(fault: CoreTransport.Fault) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try a.save("x", #"{ "p": 1 }"#)
        a.wire.plan(.recordsModify, fault)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        _ = try a.restartAfterCrash()
        try await syncAll()
        try await expectFiles(["x": #"{ "p": 1 }"#])
    }

    @Test("a text that is too long to be kept is printed elsewhere, with the same values")
    func tooLong() async throws {
        let spaces = String(repeating: " ", count: RecordLimits.fileTextBytes)
        try a.save("x", "{\(spaces)\"p\":1}")
        try await syncAll()
        #expect(try b.file("x") == "{\n  \"p\": 1\n}\n")
        #expect(try a.file("x") == "{\(spaces)\"p\":1}")
        #expect(try a.outbox() == [] && b.outbox() == [])
    }

    @Test("a text stays as it was written when its field has become one of fractions meanwhile")
    func widenedBeforeTheEcho() async throws {
        try a.save("x", "{\n  \"p\": 1\n}\n")
        let zone = try #require(try a.store.syncState.zonesWithWork(in: .private).first)
        try await a.exchange.work(zone.id, downloads: false, uploads: true)
        try a.save("y", #"{"p":1.5}"#)
        try a.delete("y")
        try await syncAll()
        try await expectFiles(["x": "{\n  \"p\": 1\n}\n"])
    }

    @Test("a text is the same where its field is one of fractions already")
    func widenedElsewhere() async throws {
        try b.save("y", #"{"p":1.5}"#)
        try b.delete("y")
        try a.save("x", "{\n  \"p\": 1\n}\n")
        try await syncAll()
        try await expectFiles(["x": "{\n  \"p\": 1\n}\n"])
    }

    @Test(
        "texts that an earlier program did not send stay when the feed begins anew, and are sent then"
    )
    func sentWithoutTexts() async throws {
        try a.save("x", #"{"q":1,"p":1}"#)
        try await a.exchange(hasExtensions: false).round()
        #expect(try a.outbox() == [])
        a.wire.plan(.zoneChanges, .tokenExpired)
        try b.save("other", "{}")
        try await b.sync()
        try await syncAll()
        try await expectFiles(["x": #"{"q":1,"p":1}"#, "other": "{}"])
    }

    @Test(
        "a text that does not get through stays where it was written, and its values are sent",
        arguments: [true, false])
    func doesNotGetThrough(isTold: Bool) async throws {
        let spaces = String(repeating: " ", count: 5_000)
        try a.save("x", "{\(spaces)\"p\":1}")
        try a.save("y", "{}")
        if isTold {
            a.wire.refuseRequests(over: 3_000)
        } else {
            a.wire.loseRequests(over: 3_000)
        }
        try await a.sendAll(rounds: 40)
        try await syncAll()
        #expect(try a.outbox() == [])
        #expect(try a.files() == ["x": "{\(spaces)\"p\":1}", "y": "{}"])
        #expect(try b.files() == ["x": "{\n  \"p\": 1\n}\n", "y": "{}"])
        _ = a.wire.takeSent()
        try await syncAll()
        #expect(a.wire.takeBodies(of: .recordsModify) == [])
        // With the next edit it is tried again.
        a.wire.loseRequests(over: .max)
        a.wire.refuseRequests(over: .max)
        try a.restart()
        try a.save("x", "{\(spaces)\"p\":2}")
        try await syncAll()
        try await expectFiles(["x": "{\(spaces)\"p\":2}", "y": "{}"])
    }

    @Test("a record that all have, and this machine writes otherwise, is not made again for that")
    func deletedElsewhere() async throws {
        try a.save("x", #"{"p":1}"#)
        a.wire.plan(.recordsModify, .answerLost)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        try b.save("x", #"{"r":1}"#)
        try await b.sync()
        try b.delete("x")
        // Whether what was sent arrived is not told: it is merged with what the other made of it.
        a.wire.plan(.recordsModify, .refused(ServerError(.quotaExceeded, "full")))
        try await a.exchange.round()
        #expect(try a.files() == ["x": #"{"r":1,"p":1}"#])
        for replica in [b, a] { try await replica.sync() }
        try await expectFiles([:])
    }
}
