import RecordDaemon
import RecordModel

/// A failure of a command: its subject and its reason.
struct CommandFailure: Error {
    let subject: String?
    let message: String
    let status: Int32

    init(_ subject: String? = nil, _ message: String, status: Int32 = ExitStatus.failure) {
        self.subject = subject
        self.message = message
        self.status = status
    }

    init(_ subject: String?, _ error: RecordError) {
        let message = error.description
        // Errors of the system name the file themselves.
        let isNamed = subject.map { message.hasPrefix($0) } ?? false
        self.init(
            isNamed ? nil : subject, message,
            status: error.code == .notFound ? ExitStatus.notFound : ExitStatus.failure)
    }

    init(_ failure: MountFailure) { self.init(failure.subject, failure.reason) }

    /// Prints one line on standard error: `recordfs: PATH: what. What to do.`
    func show() {
        if message.isEmpty { return }
        Terminal.error(["recordfs", subject, message].compactMap(\.self).joined(separator: ": "))
    }
}

/// Runs the body. An error of the project becomes the failure of the command, about `subject`.
func reporting<T>(
    _ subject: String? = nil, _ body: () throws(RecordError) -> T
) throws(CommandFailure) -> T {
    do {
        return try body()
    } catch {
        throw CommandFailure(subject, error)
    }
}
