import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// Pages that get lost, come twice or are the last that a process does.
@Suite("Lost pages") struct LostPageTests {
    /// What becomes of a request.
    enum Loss: CaseIterable, Sendable {
        case request, answer, killBefore, killAfter, twice

        fileprivate var fault: CoreTransport.Fault {
            switch self {
            case .request: .requestLost
            case .answer: .answerLost
            case .killBefore: .crash(isAnswered: false)
            case .killAfter: .crash(isAnswered: true)
            case .twice: .duplicated
            }
        }
    }

    private static let requests = 5

    @Test(
        "whichever request of a download is lost, all of it comes, each record once",
        arguments: Loss.allCases, 0..<requests)
    func lost(loss: Loss, number: Int) async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        for index in 0..<6 { try a.save("x\(index)", #"{"p":\#(index)}"#) }
        try await a.sync()
        let b = try Replica(server) { $0.pageRecords = 2 }
        for _ in 0..<number { b.wire.plan(nil) }
        b.wire.plan(loss.fault)
        do throws(SyncProblem) {
            try await b.exchange.round()
        } catch {
            guard case .unreachable = error else { throw error }
        }
        _ = try b.restartAfterCrash()
        b.wire.forgetPlan()
        try await b.sync()
        try b.expectSettled(a.tree())
        let box = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        for index in 0..<6 {
            let versions = try b.store.past.history(of: RecordName("x\(index)"), in: box.id)
            #expect(versions.count == 1)
        }
        // Nothing is left that would be told again.
        _ = b.wire.takeSent()
        try await b.sync()
        #expect(b.wire.takeSent() == [.databaseChanges])
    }

    @Test(
        "changes and deletions of a later page come whichever request of it is lost",
        arguments: Loss.allCases, 0..<requests)
    func laterNews(loss: Loss, number: Int) async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        for index in 0..<8 { try a.save("x\(index)", #"{"p":\#(index)}"#) }
        try await a.sync()
        let b = try Replica(server) { $0.pageRecords = 2 }
        try await b.sync()
        for index in 0..<3 { try a.save("x\(index)", #"{"p":9}"#) }
        for index in 3..<6 { try a.delete("x\(index)") }
        try await a.sync()
        for _ in 0..<number { b.wire.plan(nil) }
        b.wire.plan(loss.fault)
        do throws(SyncProblem) {
            try await b.exchange.round()
        } catch {
            guard case .unreachable = error else { throw error }
        }
        _ = try b.restartAfterCrash()
        b.wire.forgetPlan()
        try await b.sync()
        try b.expectSettled(a.tree())
        #expect(try b.store.syncState.counts().trash == 3)
    }
}
