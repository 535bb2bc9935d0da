import FuseKit
import Logging
import RecordModel
import RecordTree
import Synchronization

/// The threads that do what is due with time: waiting deletes and saves that a full disk has put off
/// on one, on the others what may take long, and what waits for the record server.
final class Maintenance: Sendable {
    /// How often passing faults are tried again, and the longest wait for a new waiting delete.
    private static let period: Duration = .milliseconds(500)

    private let tree: Tree
    private let logger: Logger
    private let stopping = StopSignal()
    private let threads = Mutex<[SystemThread]>([])

    init(tree: Tree, logger: Logger) {
        self.tree = tree
        self.logger = logger
    }

    func start() throws(MountError) {
        try runAgainAndAgain("maintenance") { [tree] () throws(RecordError) in
            _ = try tree.maintain()
        }
        try runAgainAndAgain("cleaning") { [tree] () throws(RecordError) in try tree.clean() }
        try runAgainAndAgain("shares") { [tree] () throws(RecordError) in tree.endDueShares() }
    }

    private func runAgainAndAgain(
        _ name: String, _ work: @escaping @Sendable () throws(RecordError) -> Void
    ) throws(MountError) {
        do throws(Errno) {
            let thread = try SystemThread(name: name) { [self] in
                while !stopping.wait(Self.period) { run(work) }
            }
            threads.withLock { $0.append(thread) }
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    private func run(_ work: () throws(RecordError) -> Void) {
        do throws(RecordError) {
            try work()
        } catch {
            logger.error("maintenance failed", metadata: ["error": "\(error)"])
        }
    }

    /// Waits for the work under way. Does nothing when it was never started.
    func stop() {
        stopping.set()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
    }
}
