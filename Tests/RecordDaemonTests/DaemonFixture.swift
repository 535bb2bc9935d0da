import Logging
import RecordModel
import RecordMount
import RecordStore
import RecordSync
import TestSupport

@testable import RecordDaemon

/// The parts of a daemon without a mount, for a store to which nobody has signed in.
final class DaemonFixture {
    private let directory: TemporaryDirectory
    let store: RecordStore
    let sync: MountedSync
    let verbs: VerbRunner

    init(isReadOnly: Bool = false) throws {
        directory = try TemporaryDirectory()
        let state = "\(directory.path)/state"
        var store = try RecordStore.open(directory: state, options: .quiet)
        if isReadOnly {
            try store.close()
            store = try RecordStore.openForReading(directory: state, options: .quiet)
        }
        self.store = store
        sync = try MountedSync(
            store, ConfiguredAccount(file: "config.json"), SyncPolicy(), logger: .quiet)
        verbs = VerbRunner(
            mountpoint: "\(directory.path)/mount", store: store, sync: sync, view: MountView())
    }

    /// Stops everything, as a daemon does at its end.
    func close() throws {
        sync.stop()
        try store.close()
    }

    /// Returns the code with which a verb is refused. Returns nil when it is done.
    func refusal(of body: () throws(RecordError) -> Void) -> RecordError.Code? {
        do throws(RecordError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }
}

extension StoreOptions {
    static var quiet: StoreOptions { StoreOptions(logger: .quiet) }
}

extension Logger {
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
