import RecordModel
import RecordMount
import RecordStore
import RecordSync

/// The one handler of each verb of the daemon, for the control socket and for `.recordfs/ctl`.
struct VerbRunner: Sendable {
    let mountpoint: String
    let store: RecordStore
    let sync: MountedSync
    let view: MountView

    /// Runs a verb. Errors: unsupported while no user is signed in, for verbs of the exchange.
    ///
    /// - Parameter waits: whether the result waits for the record server. A thread that answers the
    ///   kernel does not wait.
    func run(_ verb: ControlVerb, waits: Bool) throws(RecordError) -> JSONValue {
        switch verb {
        case .flush: try store.sync()
        case .sync:
            // The server also gets the deletions of the last moments.
            if waits { try view.outlastGrace() }
            return try syncNow(waits)
        case .pause: try sync.signedIn().pause()
        case .resume: try sync.signedIn().resume()
        case .retry:
            _ = try sync.signedIn()
            try store.syncState.retryParked()
            return try syncNow(waits)
        case .account: try sync.restart()
        case .shutdown: try unmount()
        }
        return .object([])
    }

    /// Returns the status after the exchange when the caller waits for it.
    private func syncNow(_ waits: Bool) throws(RecordError) -> JSONValue {
        let service = try sync.signedIn()
        guard waits else {
            service.kick()
            return .object([])
        }
        return SyncReport(service.finishDueWork(), of: service, in: store).json
    }

    private func unmount() throws(RecordError) {
        let records = UnsavedRecords(view.unsavedPaths())
        guard records.isEmpty else {
            throw RecordError(.noSpace, records.description(ofStore: store.directory))
        }
        try MountDaemon.unmount(mountpoint: mountpoint, lazy: false)
    }
}
