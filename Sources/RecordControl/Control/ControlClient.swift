import Glibc
package import RecordModel

/// Sends requests to the process that has the store, one after the other.
package final class ControlClient: Sendable {
    private let socket: ControlSocket

    private init(_ socket: ControlSocket) {
        self.socket = socket
    }

    /// Connects to the daemon of this state directory. Returns nil when none runs.
    ///
    /// - Parameter timeoutSeconds: the longest time for an answer. 0 waits as long as the daemon
    ///   lives, for requests that can take long, such as removing a zone.
    /// Errors: `accessDenied` when another user is at the other end.
    package static func connect(
        directory: String, timeoutSeconds: Int = 0
    ) throws(RecordError) -> ControlClient? {
        let address = ControlAddress(directory: directory)
        guard let socket = try address.connect() else { return nil }
        guard socket.peerUserID == geteuid() else {
            throw RecordError(.accessDenied, "\(address.path) belongs to another user.")
        }
        socket.setTimeout(receivingSeconds: timeoutSeconds, sendingSeconds: timeoutSeconds)
        return ControlClient(socket)
    }

    /// Checks that a daemon is at the other end, and not another program that listens there.
    ///
    /// Errors: `timedOut` when it does not answer within `timeoutSeconds`; otherwise as `perform`.
    package func check(timeoutSeconds: Int) throws(RecordError) {
        socket.setTimeout(receivingSeconds: timeoutSeconds, sendingSeconds: timeoutSeconds)
        _ = try perform(.status)
        socket.setTimeout(receivingSeconds: 0, sendingSeconds: 0)
    }

    /// Performs a request.
    ///
    /// - Parameter author: the name that the program has given itself.
    /// Errors: the error of the daemon; `ioFailure`, `timedOut` when the connection fails.
    package func perform(
        _ request: ControlRequest, by author: AuthorName? = nil
    ) throws(RecordError) -> ControlReply {
        try socket.send(request.frame.signed(by: author))
        guard let frame = try socket.receive() else {
            throw RecordError(
                .ioFailure, "The daemon closed the connection before it answered. Try again.")
        }
        return try ControlReply(frame)
    }
}
