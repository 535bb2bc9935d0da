import Glibc
package import RecordModel
package import RecordStore

/// The way in which a command changes a store: directly when no process has it, otherwise through
/// the process that has it.
package enum StoreWriter: Sendable {
    case direct(RecordStore, AuthorName?)
    case daemon(ControlClient, AuthorName?)

    /// The interval between attempts to take the lock. A command that holds it is done soon.
    private static let retryMicroseconds: UInt32 = 20_000
    private static let patience = Duration.seconds(15)

    /// The time within which a daemon must answer that it is there.
    private static let answerSeconds = 10

    /// Opens the store.
    ///
    /// - Parameter author: the name that the program has given itself.
    /// Errors: `storeLocked`, with the process that has the store, when it answers on no socket;
    /// otherwise as `RecordStore.open`.
    package static func open(
        directory: String, options: StoreOptions, author: AuthorName? = nil,
        patience: Duration = StoreWriter.patience
    ) throws(RecordError) -> StoreWriter {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                return .direct(
                    try RecordStore.open(directory: directory, options: options), author)
            } catch {
                guard error.code == .storeLocked else { throw error }
                if let client = try ControlClient.connect(directory: directory) {
                    try client.check(timeoutSeconds: answerSeconds)
                    return .daemon(client, author)
                }
                guard ContinuousClock.now < deadline else { throw error }
                usleep(retryMicroseconds)
            }
        }
    }

    package var isDirect: Bool {
        if case .direct = self { true } else { false }
    }

    /// Performs a request.
    ///
    /// Errors: the error of the store; `ioFailure` when the daemon ends.
    package func perform(_ request: ControlRequest) throws(RecordError) -> ControlReply {
        switch self {
        case .direct(let store, let author):
            try Self.perform(request, store, author)
        case .daemon(let client, let author): try client.perform(request, by: author)
        }
    }

    private static func perform(
        _ request: ControlRequest, _ store: RecordStore, _ author: AuthorName?
    ) throws(RecordError) -> ControlReply {
        let caller = CallingProgram(thread: getpid()) { "recordfs" }
        let result = CallingProgram.$current.withValue(caller) {
            Result { () throws(RecordError) in
                try ControlExecutor(store: store).run(request, by: author)
            }
        }
        return try result.get()
    }

    /// Closes the store. Errors: as `RecordStore.close`.
    package func close() throws(RecordError) {
        if case .direct(let store, _) = self { try store.close() }
    }
}
