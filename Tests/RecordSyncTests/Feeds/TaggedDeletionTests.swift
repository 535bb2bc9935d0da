import RecordModel
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A server of somebody else may give deletions change tags: they say nothing about which records of a name
/// are meant.
@Suite("Deletions with change tags") struct TaggedDeletionTests {
    @Test("a record is gone, whatever the tag of its deletion at a server without our extensions")
    func foreign() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        let b = try Replica(server) { $0.hasExtensions = false }
        try a.save("x", #"{"p":1}"#)
        for replica in [a, b] { try await replica.sync() }
        try a.delete("x")
        try await a.sync()
        var wire = HookedTransport(wire: b.wire)
        wire.changeAnswer = { (answer) in answer.taggingDeletions }
        try await b.exchange(over: wire).round()
        try b.expectSettled([:])
    }
}

extension JSONValue {
    /// With a tag that is lower than any.
    fileprivate var taggingDeletions: JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.taggingDeletions))
        case .object(let members):
            let changed = members.map {
                JSONMember(key: $0.key, value: $0.value.taggingDeletions)
            }
            guard members.contains(where: { $0.key == "deleted" && $0.value == true }) else {
                return .object(changed)
            }
            return .object(changed + [JSONMember(key: "recordChangeTag", value: "0")])
        default: return self
        }
    }
}
