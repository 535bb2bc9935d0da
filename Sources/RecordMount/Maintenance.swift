import FuseKit
import Logging
import RecordModel
import RecordTree
import Synchronization

/// The thread that does what is due with time: waiting deletes, saves that a full disk has put off.
final class Maintenance: Sendable {
    /// How often passing faults are tried again, and the longest wait for a new waiting delete.
    private static let period: Duration = .milliseconds(500)

    private let tree: Tree
    private let logger: Logger
    private let stopping = StopSignal()
    private let thread = Mutex<SystemThread?>(nil)

    init(tree: Tree, logger: Logger) {
        self.tree = tree
        self.logger = logger
    }

    func start() throws(MountError) {
        do throws(Errno) {
            let thread = try SystemThread(name: "maintenance") { [self] in
                while !stopping.wait(Self.period) { runOnce() }
            }
            self.thread.withLock { $0 = thread }
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    private func runOnce() {
        do throws(RecordError) {
            _ = try tree.maintain()
        } catch {
            logger.error("maintenance failed", metadata: ["error": "\(error)"])
        }
    }

    /// Waits for the work under way. Does nothing when it was never started.
    func stop() {
        stopping.set()
        thread.withLock { $0.take() }?.join()
    }
}
