import FuseKit
import Logging
import RecordModel
import RecordTree
import Synchronization

/// The threads for work that depends on time. One does waiting deletes, and saves that a full disk
/// has delayed. The others do work that may take long, and work that waits for the record server.
final class MaintenanceThreads: Sendable {
    /// The time between two attempts after temporary faults. It is also the longest wait for a new
    /// waiting delete.
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
                while !stopping.wait(Self.period) { run(name, work) }
            }
            threads.withLock { $0.append(thread) }
        } catch {
            throw MountError(.failed, "could not start the thread \(name): \(error)")
        }
    }

    private func run(_ name: String, _ work: () throws(RecordError) -> Void) {
        do throws(RecordError) {
            try work()
        } catch {
            logger.error(
                "maintenance failed", metadata: ["thread": "\(name)", "error": "\(error)"])
        }
    }

    /// Waits for the running work. Does nothing when the threads were never started.
    func stop() {
        stopping.set()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
    }
}
