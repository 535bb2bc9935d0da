import RecordModel
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// Records of two types of a zone that want one name, on machines that do not know of each other.
@Suite("Records of several types with one name") struct NamesOfTypesTests {
    private let server: TestServer
    private let machines: [Replica]
    private var a: Replica { machines[0] }
    private var b: Replica { machines[1] }

    init() async throws {
        server = try await TestServer()
        machines = try (0..<2).map { [server] number in
            try Replica(server, device: UInt64(number + 1))
        }
        try machines[0].save("stays", "{}")
        for machine in machines + machines { try await machine.sync() }
    }

    /// All machines, and a fresh one, show these files, and have sent all; by TYPE/NAME.
    private func expect(
        _ files: [String: String], conflicts: Int = 0,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        for machine in machines + machines { try await machine.sync() }
        let fresh = try Replica(server)
        try await fresh.sync()
        for machine in machines + [fresh] {
            var found: [String: String] = [:]
            for type in try machine.types("Box") {
                for (name, text) in try machine.files(type: type) {
                    found["\(type)/\(name)"] = text
                }
            }
            found["Note/stays"] = nil
            #expect(found == files, sourceLocation: location)
            #expect(try machine.outbox() == [], sourceLocation: location)
            #expect(try machine.problems() == [], sourceLocation: location)
        }
        let all = try machines.flatMap { try $0.conflicts() }
        #expect(all.count == conflicts, sourceLocation: location)
    }

    private func retype(_ name: String, _ type: String, to target: String, on machine: Replica)
        throws
    {
        try machine.move(name, from: "Box", to: "Box", type: type, target: target)
    }

    @Test(
        "what is moved out of a name does not take along the record of another type that has it there"
    )
    func movedBeforeItWasThere() async throws {
        try a.save("r", #"{"f":"a"}"#, type: "Task")
        a.wire.plan(.recordsModify, .requestLost)
        await #expect(throws: (any Error).self) { try await a.exchange.round() }
        try b.save("r", #"{"g":"b"}"#)
        try await b.sync()
        try retype("r", "Task", to: "Note", on: a)
        try await expect(["Note/r": #"{"g":"b"}"#, "Note/r:Note": #"{"f":"a"}"#])
    }

    @Test("nor one that was made when somebody had deleted what was moved")
    func movedWhileAnotherWasMade() async throws {
        try b.save("r", #"{"f":"b"}"#, type: "Task")
        try await b.sync()
        try await a.sync()
        try retype("r", "Task", to: "Note", on: a)
        try b.delete("r", type: "Task")
        try await b.sync()
        try b.save("r", #"{"g":"b"}"#)
        try await b.sync()
        try await expect(["Note/r": #"{"g":"b"}"#, "Note/r:Note": #"{"f":"b"}"#])
    }

    @Test(
        "a file that is deleted and made again is the record that it was, with the edits of others")
    func madeAgain() async throws {
        try b.save("r", #"{"f":"0"}"#)
        try await b.sync()
        try a.save("r", "{}", type: "Task")
        try a.save("r", #"{"f":"1"}"#)
        for machine in machines + machines { try await machine.sync() }
        // From now on the other one shows as r.
        try b.delete("r")
        for machine in machines + machines { try await machine.sync() }
        try b.delete("r")
        try b.save("r", #"{"f":"b"}"#)
        try a.save("r", #"{"f":"1","g":"a"}"#)
        try await a.sync()
        try await expect(["Note/r": #"{"f":"b","g":"a"}"#, "Task/r": "{}"])
    }

    @Test("a file names its large fields by the name that the record has now, on every machine")
    func largeFields() async throws {
        try b.save("r", "{}")
        try await b.sync()
        try a.save("r", "{}", type: "Task")
        try a.save("r", #"{"f":"1"}"#)
        for machine in machines + machines { try await machine.sync() }
        let bytes = Array("photo".utf8)
        try a.attach(bytes, to: "r:Note")
        try await a.sync()
        try b.delete("r")
        let photo =
            #""photo":{"$asset":"r@photo.jpg","size":5,"sha256":"\#(SHA256.hash(bytes).hex)"}"#
        try await expect(["Note/r": #"{"f":"1",\#(photo)}"#, "Task/r": "{}"])
    }
}
