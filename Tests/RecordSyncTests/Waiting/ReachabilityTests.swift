import RecordModel
import RecordSync
import Synchronization
import Testing

/// Who is told that the server may answer again, and when.
@Suite struct ReachabilityTests {
    private let reachability = Reachability()
    private final class Told: Sendable {
        let count = Mutex(0)
    }

    @Test("the first answer after one that did not come is told, and no other")
    func firstAnswer() {
        let told = Told()
        reachability.onReturn { told.count.withLock { $0 += 1 } }
        reachability.noteAnswer()
        #expect(told.count.withLock(\.self) == 0)
        reachability.noteNoAnswer()
        reachability.noteNoAnswer()
        reachability.noteAnswer()
        reachability.noteAnswer()
        #expect(told.count.withLock(\.self) == 1)
    }

    @Test("another network is told, also when nobody has missed an answer")
    func network() {
        let told = Told()
        reachability.onReturn { told.count.withLock { $0 += 1 } }
        reachability.noteChangedNetwork()
        #expect(told.count.withLock(\.self) == 1)
    }
}
