import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// What a value is on one machine it is on the other.
@Suite struct ValueExchangeTests {
    private let a: Replica
    private let b: Replica

    init() async throws {
        let server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    @Test("every type of value arrives as it was written")
    func values() async throws {
        let text = """
            {"s":"text","i":9007199254740993,"d":0.5,"t":{"$timestamp":"2026-11-23T10:00:00.250Z"},\
            "y":{"$bytes":"AAEC"},"l":{"$location":{"latitude":52.5,"longitude":13.25}},\
            "r":{"$ref":"x"},"a":["p","q"],"e":"","u":"\\u00e9\\n","$parent":"x"}
            """
        try a.save("x", "{}")
        try a.save("v", text)
        for replica in [a, b, a] { try await replica.sync() }
        let there = try #require(try a.text("v"))
        let came = try #require(try b.text("v"))
        #expect(came == there, "\(came) \(there)")
        #expect(try b.outbox() == [])
    }

    @Test(
        "nested JSON arrives as it was written, and a text that looks like it as a text",
        arguments: [
            #"{"v":"true"}"#, #"{"v":{"a":[1,{"b":null}],"c":"é"}}"#,
            #"{"v":"{\"a\":1}"}"#, #"{"v":[[1,2],[3]]}"#, #"{"v":[1,"two",false]}"#,
            #"{"v":{}}"#, #"{"v":"12"}"#, #"{"v":[]}"#,
            #"{"v":{"big":9007199254740993,"half":0.5,"yes":true}}"#,
        ])
    func nested(text: String) async throws {
        try a.save("x", text)
        for replica in [a, b, a] { try await replica.sync() }
        #expect(try b.text("x") == a.text("x"))
        #expect(try b.text("x") == text)
        #expect(try a.outbox() == [] && b.outbox() == [])
        // Back from there too.
        try b.save("x", #"{"n":{"b":true},"w":"true"}"#)
        for replica in [b, a, b] { try await replica.sync() }
        let back = try #require(try a.text("x"))
        #expect(back == #"{"n":{"b":true},"w":"true"}"#)
        #expect(try a.outbox() == [] && b.outbox() == [])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test(
        "a field of JSON is one on every machine, also when its first values there are plain",
        arguments: [
            (#"{"w":1}"#, #"{"w":"x"}"#), (#"{"w":"x"}"#, #"{"w":1}"#),
            (#"{"w":[1,2]}"#, #"{"w":true}"#), (#"{"w":[]}"#, #"{"w":0.5}"#),
            ("{ \"w\" : 1.0,\n\"p\" : 2 }\n", #"{"w":{"p":[1]}}"#),
        ])
    func plainJSON(first: String, second: String) async throws {
        let type = RecordTypeName("Note")
        // As an import does that has seen both kinds.
        try a.store.write(author: .commandLine) { transaction throws(RecordError) in
            try transaction.expect([(name: FieldName("w"), type: .json)], of: type)
        }
        // At B, this record is there before the field.
        try a.save("early", "{}")
        for replica in [a, b] { try await replica.sync() }
        try a.save("x", first)
        try a.save("early", first)
        try await a.sync()
        try await b.sync()
        #expect(try b.store.schema(of: type).type(of: FieldName("w")) == .json)
        try a.save("y", second)
        for replica in [a, b] { try await replica.sync() }
        let files = ["early": first, "x": first, "y": second]
        #expect(try a.files() == files && b.files() == files)
        #expect(try b.store.syncState.counts().passedOver == 0)
        // An edit there is one of JSON too.
        try b.save("x", second)
        for replica in [b, a, b] { try await replica.sync() }
        #expect(try a.files() == files.merging(["x": second]) { $1 })
        #expect(try a.outbox() == [] && b.outbox() == [])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
        for replica in [a, b] { try replica.expectSound() }
    }

    @Test("a fraction may come into a field that had whole numbers, as on one machine alone")
    func fractions() async throws {
        try a.save("x", #"{"p":3,"q":[1,2]}"#)
        try await a.sync()
        try a.save("y", #"{"p":3.5,"q":[0.5]}"#)
        // On the other machine, which has not heard of it, the field is one of fractions at first.
        try b.save("z", #"{"p":0.5,"q":[1.5]}"#)
        for replica in [a, b, a] { try await replica.sync() }
        try b.save("x", #"{"p":4,"q":[1,2]}"#)
        try a.save("z", #"{"p":9007199254740992,"q":[7]}"#)
        for replica in [a, b, a] { try await replica.sync() }
        for replica in [a, b] {
            #expect(
                try replica.files() == [
                    "x": #"{"p":4,"q":[1,2]}"#, "y": #"{"p":3.5,"q":[0.5]}"#,
                    "z": #"{"p":9007199254740992,"q":[7]}"#,
                ])
            #expect(try replica.outbox() == [])
        }
    }
}
