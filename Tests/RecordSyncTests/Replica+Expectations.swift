import Simulation
import Testing

extension Replica {
    /// Nothing is wrong with its store.
    func expectSound() throws { #expect(try problems() == []) }
}
