import Glibc
package import RecordModel
package import RecordStore

/// The way of a command to change a store: by itself when no process has it, else through the one
/// that has it.
package enum StoreWriter: Sendable {
    case direct(RecordStore)
    case daemon(ControlClient)

    /// A command that holds the lock is done soon: how often, and for how long, to ask again.
    private static let retryMicroseconds: UInt32 = 20_000
    private static let patience = Duration.seconds(15)

    /// How long a daemon may take to say that it is there.
    private static let answerSeconds = 10

    /// Errors: `storeLocked`, with the process that has the store, when it answers on no socket;
    /// otherwise as `RecordStore.open`.
    package static func open(
        directory: String, options: StoreOptions, patience: Duration = StoreWriter.patience
    ) throws(RecordError) -> StoreWriter {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                return .direct(try RecordStore.open(directory: directory, options: options))
            } catch {
                guard error.code == .storeLocked else { throw error }
                if let client = try ControlClient.connect(directory: directory) {
                    try client.check(timeoutSeconds: answerSeconds)
                    return .daemon(client)
                }
                guard ContinuousClock.now < deadline else { throw error }
                usleep(retryMicroseconds)
            }
        }
    }

    package var isDirect: Bool {
        if case .direct = self { true } else { false }
    }

    /// Errors: what the store refuses with; `ioFailure` when the daemon goes away.
    package func perform(_ request: ControlRequest) throws(RecordError) -> ControlReply {
        switch self {
        case .direct(let store): try ControlExecutor(store: store).run(request)
        case .daemon(let client): try client.perform(request)
        }
    }

    /// Lets go of the store. Errors: as `RecordStore.close`.
    package func close() throws(RecordError) {
        if case .direct(let store) = self { try store.close() }
    }
}
