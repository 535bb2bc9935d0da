import RecordStore
import RecordSync
import Simulation
import Testing

extension Replica {
    /// Nothing is wrong with its store.
    func expectSound() throws { #expect(try problems() == []) }

    /// A zone has these records, the server was told of all, and nothing is wrong with its store.
    func expectSettled(_ tree: [String: String], zone: String = "Box") throws {
        #expect(try self.tree(zone: zone) == tree)
        #expect(try outbox() == [])
        try expectSound()
    }

    /// Rounds, some of which may get no answer, until nothing waits that can be sent.
    func sendAll(with exchange: Exchange? = nil, rounds: Int) async throws {
        let exchange = exchange ?? self.exchange
        for _ in 0..<rounds
        where try store.syncState.outbox(limit: 1_000).contains(where: { $0.error == nil }) {
            do throws(SyncProblem) {
                try await exchange.round()
            } catch {
                switch error {
                case .unreachable, .fruitless: continue
                case .refused, .unreadable, .store: throw error
                }
            }
        }
    }
}
