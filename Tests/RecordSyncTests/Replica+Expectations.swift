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
}
