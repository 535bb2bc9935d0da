import RecordModel
import RecordServerCore
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Two machines of one account and a record server: what is done on one comes to the other, whatever
/// happens between.
@Suite struct ExchangeTests {
    private let server: TestServer
    private let a, b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func syncBoth() async throws {
        try await a.sync()
        try await b.sync()
        try await a.sync()
    }

    private func expectEqual(_ tree: [String: String]) throws {
        for replica in [a, b] { try replica.expectSettled(tree) }
    }

    // MARK: Ways there and back

    @Test("a saved record, its edit and its deletion come to the other machine")
    func lifeCycle() async throws {
        try a.save("x", #"{"count":1,"title":"one"}"#)
        try await syncBoth()
        try expectEqual(["x": #"{"count":1,"title":"one"}"#])
        try b.save("x", #"{"count":1,"title":"two"}"#)
        try await b.sync()
        try await a.sync()
        try expectEqual(["x": #"{"count":1,"title":"two"}"#])
        try a.delete("x")
        try await syncBoth()
        try expectEqual([:])
    }

    @Test("a save keeps the time of its file when the server tells of it")
    func fileTime() async throws {
        try a.save("x", #"{"count":1}"#)
        let saved = try #require(try a.entry("x")).modified
        server.clock.advance(.seconds(5))
        try await syncBoth()
        try await syncBoth()
        #expect(try a.entry("x")?.modified == saved)
        try a.save("x", #"{ "count": 1 }"#)
        let written = try #require(try a.entry("x")).modified
        server.clock.advance(.seconds(5))
        try await syncBoth()
        try await syncBoth()
        #expect(try a.entry("x")?.modified == written && written > saved)
        #expect(try b.file("x") == #"{ "count": 1 }"#)
    }

    @Test("more records than a request holds come over, parents before children")
    func many() async throws {
        var tree: [String: String] = [:]
        for number in 0..<450 {
            let text = number == 0 ? #"{"n":0}"# : #"{"$parent":"r\#(number - 1)","n":\#(number)}"#
            tree["r\(number)"] = text
        }
        // The last first: what a record needs is saved after it.
        for number in (0..<450).reversed() { try a.save("r\(number)", tree["r\(number)"] ?? "") }
        try await syncBoth()
        try expectEqual(tree)
    }

    @Test("a second round has nothing to send and asks once")
    func quiet() async throws {
        try a.save("x", #"{"n":1}"#)
        try await syncBoth()
        _ = a.wire.takeSent()
        try await a.sync()
        #expect(a.wire.takeSent() == [.databaseChanges])
    }

    // MARK: Both edit

    @Test("edits of different fields are both kept")
    func differentFields() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncBoth()
        try a.save("x", #"{"p":2,"q":1}"#)
        try b.save("x", #"{"p":1,"q":3}"#)
        try await a.sync()
        try await b.sync()
        try await a.sync()
        try expectEqual(["x": #"{"p":2,"q":3}"#])
    }

    @Test(
        "of edits of one field the later one stands on both sides, whichever is sent first",
        arguments: [0, 1])
    func oneField(first: Int) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.save("x", #"{"p":2}"#)
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"p":3}"#)
        // The server's own times say the opposite.
        server.clock.advance(.seconds(1))
        let (early, late) = first == 0 ? (a, b) : (b, a)
        for replica in [early, late, early] {
            try await replica.sync()
            server.clock.advance(.seconds(1))
        }
        try expectEqual(["x": #"{"p":3}"#])
        // Who sent last has both, and says which of them stands.
        #expect(try early.conflicts().map(\.theirsStood.count) == (first == 0 ? [1] : []))
        let conflict = try #require(try late.conflicts().first)
        #expect(conflict.theirsStood.isEmpty == (first == 0))
        let texts = try [Conflict.Side.mine, .theirs].map {
            try late.store.syncState.text(of: $0, in: conflict)
        }
        let values = texts.map { $0.map { String(decoding: $0, as: UTF8.self).filter(\.isNumber) } }
        #expect(values == (first == 0 ? ["3", "2"] : ["2", "3"]))
    }

    @Test("lines of one text that were changed at different places are merged")
    func lines() async throws {
        try a.save("x", #"{"p":"1\n2\n3\n"}"#)
        try await syncBoth()
        try a.save("x", #"{"p":"one\n2\n3\n"}"#)
        try b.save("x", #"{"p":"1\n2\nthree\n"}"#)
        try await syncBoth()
        try expectEqual(["x": #"{"p":"one\n2\nthree\n"}"#])
        #expect(try a.conflicts().isEmpty && b.conflicts().isEmpty)
    }

    @Test("a zone that is gone when its feed begins anew goes here too")
    func goneAndExpired() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try await a.sync()
        b.wire.plan(.zoneChanges, .refused(ServerError(.changeTokenExpired, "old")))
        try await b.sync()
        #expect(try b.zones == [])
        try await syncBoth()
        #expect(try a.zones == [] && b.zones == [])
    }

    @Test("a zone that somebody makes again after it was removed is not removed again")
    func zoneMadeAgain() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try await syncBoth()
        #expect(try a.zones == [] && b.zones == [])
        try b.store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.makeZone(.private, .me, ZoneName("Box"))
        }
        try await b.sync()
        for _ in 0..<2 { try await syncBoth() }
        #expect(try a.zones == ["Box"] && b.zones == ["Box"])
    }

    @Test("one name made on both machines is one record with the fields of both")
    func madeTwice() async throws {
        try a.save("x", #"{"p":1}"#)
        try b.save("x", #"{"q":2}"#)
        try await syncBoth()
        #expect(try a.tree() == b.tree())
        #expect(try a.text("x") == #"{"p":1,"q":2}"#)
    }

    @Test(
        "an edit wins against a deletion, whichever the server hears of first", arguments: [0, 1])
    func editWins(first: Int) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.delete("x")
        try b.save("x", #"{"p":2}"#)
        let (one, two) = first == 0 ? (a, b) : (b, a)
        try await one.sync()
        try await two.sync()
        try await one.sync()
        try expectEqual(["x": #"{"p":2}"#])
    }

    @Test("deleted and made again between two rounds is one record with the new values")
    func deletedAndMade() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncBoth()
        try a.delete("x")
        try a.save("x", #"{"p":5}"#)
        try await syncBoth()
        try expectEqual(["x": #"{"p":5}"#])
    }

    // MARK: The way between

    @Test("what the server does not hear stays, and is sent later")
    func requestLost() async throws {
        try a.save("x", #"{"p":1}"#)
        a.wire.plan(.recordsModify, .requestLost)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(try a.outbox() == ["create x"])
        try await syncBoth()
        try expectEqual(["x": #"{"p":1}"#])
    }

    @Test("a page that was applied and not remembered is applied again without effect")
    func pageAgain() async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        b.wire.plan(.zoneChanges, .answerLost)
        await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        try await b.sync()
        try expectEqual(["x": #"{"p":1}"#])
    }

    @Test("an expired token makes the feed begin anew, and changes nothing that is here")
    func tokenExpired() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.save("y", #"{"p":2}"#)
        try await a.sync()
        b.wire.plan(
            .refused(ServerError(.changeTokenExpired, "old")), nil,
            .refused(ServerError(.changeTokenExpired, "old")))
        try await b.sync()
        try expectEqual(["x": #"{"p":1}"#, "y": #"{"p":2}"#])
    }

    // MARK: What the server refuses

    @Test("a record that the server refuses is parked with its reason, and holds no other up")
    func refused() async throws {
        try a.save("n1", #"{"v":1}"#)
        try await a.sync()
        // Here the field is made text by a schema of its own: there it is a number.
        try b.save("n2", #"{"v":"text"}"#)
        try b.save("n3", #"{"w":1}"#)
        try await b.exchange.round()
        try await b.exchange.round()
        #expect(try b.outbox() == ["create n2? BAD_REQUEST"])
        let parked = try #require(try b.store.syncState.outbox(limit: 10).first)
        #expect(parked.error?.contains("BAD_REQUEST") == true)
        #expect(parked.error?.contains("v") == true)
        try await a.sync()
        #expect(try a.names() == ["n1", "n3"])
        // An edit sends it again.
        try b.save("n2", #"{"w":2}"#)
        try await b.sync()
        #expect(try b.outbox() == [])
    }

    @Test("a request that is too large is sent in parts")
    func tooLarge() async throws {
        for number in 0..<6 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        let refusal = CoreTransport.Fault.refused(ServerError(.limitExceeded, "too large"))
        a.wire.plan(.recordsModify, refusal, refusal)
        try await a.exchange.round()
        #expect(try a.outbox() == [])
        try await b.sync()
        #expect(try b.names().count == 6)
    }

    @Test("a single record that is too large for the server is parked")
    func singleTooLarge() async throws {
        try a.save("x", #"{"p":1}"#)
        let refusal = CoreTransport.Fault.refused(ServerError(.limitExceeded, "too large"))
        // The text of its file is left out first.
        a.wire.plan(.recordsModify, refusal, refusal)
        try await a.exchange.round()
        #expect(try a.outbox() == ["create x? LIMIT_EXCEEDED"])
    }

    @Test(
        "nothing is parked when the server asks for silence",
        arguments: [
            ServerErrorCode.throttled, .tryAgainLater, .internalError, .quotaExceeded,
            .authenticationRequired,
        ])
    func wait(code: ServerErrorCode) async throws {
        try a.save("x", #"{"p":1}"#)
        a.wire.plan(.recordsModify, .refused(ServerError(code, "later")))
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(try a.outbox() == ["create x"])
        try await syncBoth()
        try expectEqual(["x": #"{"p":1}"#])
    }

    @Test("a record that cannot be merged with the server's is parked, and the others go on")
    func unmergeable() async throws {
        try a.save("x", #"{"v":1}"#)
        try await a.sync()
        try b.save("x", #"{"v":"text"}"#)
        try b.save("y", #"{"w":1}"#)
        try await b.sync()
        #expect(try b.outbox() == ["create x? The server's record cannot be merged"])
        #expect(try b.text("x") == #"{"v":"text"}"#)
        try await a.sync()
        #expect(try a.tree() == ["x": #"{"v":1}"#, "y": #"{"w":1}"#])
        try b.expectSound()
    }

    @Test("a record that cannot be shown any more stays as it is when the feed begins anew")
    func passedOverStays() async throws {
        try a.save("x", #"{"v":1}"#)
        try await syncBoth()
        // Text here, a number there.
        b.wire.plan(.requestLost)
        try b.save("n", #"{"w":"text"}"#)
        try a.save("x", #"{"v":1,"w":5}"#)
        try await a.sync()
        await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        try await b.exchange.round()
        let expired = CoreTransport.Fault.refused(ServerError(.changeTokenExpired, "old"))
        try a.save("z", #"{"v":2}"#)
        try await a.sync()
        b.wire.plan(nil, expired)
        try await b.exchange.round()
        #expect(try b.names() == ["n", "x", "z"])
        #expect(try b.text("x") == #"{"v":1}"#)
        let errors = try b.store.syncState.syncEvents(after: 0, limit: 100).compactMap(\.error)
        #expect(errors.first?.hasPrefix("A record cannot be shown here: x: ") == true, "\(errors)")
        #expect(errors.allSatisfy { $0.contains("w") })
    }

    @Test("what was deleted while the feed could not be continued goes here too")
    func sweep() async throws {
        try a.save("x", #"{"v":1}"#)
        try a.save("y", #"{"v":1}"#)
        try await syncBoth()
        try a.delete("x")
        try await a.sync()
        try b.save("own", #"{"v":2}"#)
        b.wire.plan(nil, .refused(ServerError(.changeTokenExpired, "old")))
        try await b.sync()
        try await a.sync()
        try expectEqual(["y": #"{"v":1}"#, "own": #"{"v":2}"#])
    }

    // MARK: Zones

    @Test("zones of local/ and public/ never go to the private database")
    func otherDatabases() async throws {
        let zones = [(Database.local, "Own"), (.public, "_defaultZone")]
        for (database, name) in zones {
            try a.save("x", #"{"v":1}"#, zone: name, in: database)
            let zone = try #require(try a.store.zone(database, .me, ZoneName(name)))
            try await a.exchange.work(zone.id, downloads: true, uploads: true)
        }
        try await a.exchange.round()
        let list = try await server.call(.zonesList)
        #expect(!list.text.contains("Own"))
        #expect(try a.outbox() == ["create x"], "public/ waits for its own exchange")
    }

    @Test("a zone that is gone there goes here also when the database's feed begins anew")
    func zoneGoneUntold() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try await a.sync()
        b.wire.plan(.refused(ServerError(.changeTokenExpired, "old")))
        try await b.sync()
        #expect(try b.zones == [])
        #expect(try b.outbox() == [])
    }

    @Test("a zone that is removed here goes there, and on the other machine")
    func zoneRemoved() async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("o", #"{"p":1}"#, zone: "Other")
        try await syncBoth()
        #expect(try b.zones == ["Box", "Other"])
        try a.removeZone()
        try await syncBoth()
        #expect(try a.zones == ["Other"])
        #expect(try b.zones == ["Other"])
        #expect(try a.outbox() == [])
        try a.expectSound()
        try b.expectSound()
        let list = try await server.call(.zonesList)
        #expect(!list.text.contains("Box"))
    }

    @Test("a zone removed here comes back with what somebody has edited in it meanwhile")
    func zoneRemovedAndEdited() async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try b.save("x", #"{"p":2}"#)
        try await b.sync()
        try await syncBoth()
        try expectEqual(["x": #"{"p":2}"#])
    }

    @Test("a zone into which somebody puts a record at the last moment is not removed there")
    func zoneFilledAtLast() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try b.save("y", #"{"p":2}"#)
        a.wire.plan(.zonesModify, .meanwhile { [b] in try await b.exchange.round() })
        try await a.sync()
        try await syncBoth()
        try expectEqual(["y": #"{"p":2}"#])
    }

    @Test("of a zone that is gone there, what was edited here stays and is sent anew")
    func zoneGone() async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await syncBoth()
        try b.save("x", #"{"p":2}"#)
        try a.removeZone()
        try await a.sync()
        try await b.sync()
        try await syncBoth()
        try expectEqual(["x": #"{"p":2}"#])
    }

    @Test("a zone that is removed and made again holds only what came after")
    func zoneAgain() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        try a.removeZone()
        try await a.sync()
        try a.save("z", #"{"p":3}"#)
        try await syncBoth()
        try expectEqual(["z": #"{"p":3}"#])
    }

    // MARK: What nobody here knows

    @Test("fields that only others know survive an edit here, and records of such types come over")
    func unknown() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncBoth()
        let change = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Box"],
                "operations": [
                    [
                        "operationType": "forceUpdate",
                        "record": [
                            "recordName": "x", "recordType": "Note",
                            "fields": ["later": ["value": "kept"]],
                        ],
                    ],
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "strange/name", "recordType": "Later",
                            "fields": ["f": ["value": [1, 2]]],
                        ],
                    ],
                ],
            ])
        #expect(change.status == 200)
        try a.save("x", #"{"p":2}"#)
        try await syncBoth()
        #expect(try b.text("x") == #"{"later":"kept","p":2}"#)
        let zone = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        let strange = try b.store.record(named: RecordName("strange/name"), in: zone.id)
        #expect(strange != nil)
    }

    @Test("a type that cannot be a directory here is passed over with all else of its page applied")
    func unshowable() async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        let shared = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Box"],
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                        ],
                    ]
                ],
            ])
        #expect(shared.status == 200)
        try a.save("y", #"{"p":1}"#)
        try await syncBoth()
        try expectEqual(["x": #"{"p":1}"#, "y": #"{"p":1}"#])
        for e in try b.store.syncState.syncEvents(after: 0, limit: 100) { #expect(e.error == nil) }
    }
}
