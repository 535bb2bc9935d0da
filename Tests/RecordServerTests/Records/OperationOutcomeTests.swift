import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

@Suite("Outcomes of operations") struct OperationOutcomeTests {
    private static let digest = OperationOutcome.digest(of: ["a": 1])

    private func outcome(_ entries: OperationOutcome.Entry...) -> OperationOutcome {
        OperationOutcome(digest: Self.digest, entries: entries)
    }

    @Test("an outcome is read as it was written")
    func codes() {
        let outcome = outcome(
            .init(madeName: RecordName("made"), item: .saved(tag: .max)),
            .init(madeName: nil, item: .gone),
            .init(madeName: nil, item: .failed(.conflict, reason: "why")))
        #expect(OperationOutcome(outcome.encoded()) == outcome)
    }

    @Test("what was not written so is no outcome", arguments: [[], Array("{}".utf8), [0], [32]])
    func garbage(_ bytes: [UInt8]) {
        #expect(OperationOutcome(bytes) == nil)
        let whole = outcome(.init(item: .failed(.exists, reason: "why"))).encoded()
        for count in 34..<whole.count {
            #expect(OperationOutcome(Array(whole.prefix(count))) == nil)
        }
    }

    @Test("two requests have one digest only when they are the same")
    func digests() {
        #expect(OperationOutcome.digest(of: ["a": 1]) == Self.digest)
        for other: JSONValue in [["a": 2], ["b": 1], [:], ["a": 1, "b": 1]] {
            #expect(OperationOutcome.digest(of: other) != Self.digest)
        }
    }

    @Test("reasons that are too long together give way to a short one")
    func longReasons() throws {
        let entries = (0..<200).map { _ in
            OperationOutcome.Entry(
                item: .failed(.badRequest, reason: String(repeating: "x", count: 1000)))
        }
        let encoded = OperationOutcome(digest: Self.digest, entries: entries).encoded()
        #expect(encoded.count < 20_000)
        let read = try #require(OperationOutcome(encoded))
        #expect(read.entries.count == 200)
        #expect(read.entries.first == entries.first)
        guard case .failed(.badRequest, let reason) = read.entries.last?.item else {
            Issue.record("\(String(describing: read.entries.last))")
            return
        }
        #expect(!reason.isEmpty && reason.utf8.count < 100)
    }
}
