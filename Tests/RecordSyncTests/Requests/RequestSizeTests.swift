import Foundation
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// Uploads are parted before the server has to refuse them, and where its limits are lower, after.
@Suite("The size of requests") struct RequestSizeTests {
    private func records(in body: String) -> Int {
        body.components(separatedBy: "\"operationType\"").count - 1
    }

    @Test("a request has 200 changes at most")
    func count() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        for number in 0..<450 { try a.save("x\(number)", #"{"p":1}"#) }
        try await a.sync()
        #expect(a.wire.takeBodies(of: .recordsModify).map(records) == [200, 200, 50])
        for number in 0..<450 { try a.delete("x\(number)") }
        try await a.sync()
        #expect(a.wire.takeBodies(of: .recordsModify).map(records) == [200, 200, 50])
        try await b.sync()
        try b.expectSettled([:])
    }

    @Test("a request has the texts of 2 MB at most, but for a record that is larger alone")
    func bytes() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        // As it is printed, so that the values alone are sent.
        let text = "{\n  \"p\": \"\(String(repeating: "x", count: 300_000))\"\n}\n"
        for number in 0..<20 { try a.save("x\(number)", text) }
        try await a.sync()
        let bodies = a.wire.takeBodies(of: .recordsModify)
        #expect(bodies.count == 4 && bodies.allSatisfy { $0.utf8.count < 2_050_000 })
        #expect(bodies.map(records).reduce(0, +) == 20)
        try await b.sync()
        try b.expectSettled(a.tree())
    }

    @Test("a server that takes fewer changes gets fewer, and none is parked")
    func lowerLimit() async throws {
        let server = try await TestServer { $0.service.maximumItems = 20 }
        let (a, b) = (try Replica(server), try Replica(server))
        for number in 0..<70 { try a.save("x\(number)", #"{"p":1}"#) }
        try await a.sync()
        #expect(try a.outbox() == [])
        try await b.sync()
        try b.expectSettled(a.tree())
    }
}
