import Dispatch
// For Thread only: it starts a thread without pointers.
import Foundation
import Glibc
package import Logging
package import RecordModel
import RecordStore
import Synchronization

/// Answers the command line on the control socket of a store.
///
/// One thread accepts connections, and each connection has a thread of its own. All of them block.
/// None belongs to the cooperative pool.
package final class ControlServer: Sendable {
    /// Answers one request of a program that may have given itself a name. It is called from several threads at once.
    package typealias Handler =
        @Sendable (ControlRequest, AuthorName?) throws(RecordError) -> ControlReply

    /// The number of connections above which a client is asked to try again later.
    package static let connectionLimit = 32
    /// The time that `stop` waits for clients that do not read their answer.
    private static let stopSeconds = 5.0

    private struct State: Sendable {
        var isStopping = false
        var connections: [Int: ControlSocket] = [:]
        var nextConnection = 0
    }

    private let address: ControlAddress
    private let listener: ControlSocket
    private let handler: Handler
    private let logger: Logger
    private let threads = DispatchGroup()
    private let state = Mutex(State())

    /// Starts to listen at once. The caller holds the lock of the store in `directory`.
    ///
    /// Errors: `ioFailure`, `accessDenied`, `noSpace` when the socket cannot be made.
    package init(
        directory: String, logger: Logger, handler: @escaping Handler
    ) throws(RecordError) {
        self.address = ControlAddress(directory: directory)
        self.listener = try address.listen()
        self.handler = handler
        self.logger = logger
        startThread { [self] in acceptConnections() }
    }

    /// Accepts no more requests, ends the connections, and waits until the running requests are
    /// answered.
    package func stop() {
        let connections = state.withLock { state -> [ControlSocket] in
            guard !state.isStopping else { return [] }
            state.isStopping = true
            return Array(state.connections.values)
        }
        unlink(address.path)
        listener.shutDown()
        for connection in connections { shutdown(connection.descriptor, Int32(SHUT_RD)) }
        guard threads.wait(timeout: .now() + Self.stopSeconds) == .timedOut else { return }
        // A client does not read its answer.
        for connection in connections { connection.shutDown() }
        threads.wait()
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let threads = threads
        let thread = Thread {
            body()
            threads.leave()
        }
        thread.name = "control"
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func acceptConnections() {
        while !state.withLock({ $0.isStopping }) {
            let descriptor = accept(listener.descriptor, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                admit(ControlSocket(owning: descriptor))
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                logger.warning("The control socket waits: \(String(cString: strerror(errno)))")
                usleep(100_000)
            default: return
            }
        }
    }

    private func admit(_ socket: ControlSocket) {
        guard socket.peerUserID == geteuid() else {
            logger.warning("A connection of another user to the control socket was refused.")
            return
        }
        // A client may wait as long as it likes between requests, for example while its user types
        // rows.
        socket.setTimeout(receivingSeconds: 0, sendingSeconds: 120)
        let number = state.withLock { state -> Int? in
            guard !state.isStopping, state.connections.count < Self.connectionLimit else {
                return nil
            }
            state.nextConnection += 1
            state.connections[state.nextConnection] = socket
            return state.nextConnection
        }
        guard let number else {
            refuse(socket, RecordError(.timedOut, "The daemon is busy. Try again."))
            return
        }
        startThread { [self] in
            serve(socket)
            state.withLock { _ = $0.connections.removeValue(forKey: number) }
        }
    }

    private func serve(_ socket: ControlSocket) {
        while true {
            do {
                guard let frame = try socket.receive() else { return }
                let caller = CallingProgram(thread: socket.peerProcess ?? 0) { "recordfs" }
                let reply = CallingProgram.$current.withValue(caller) { answer(frame) }
                try socket.send(reply)
            } catch {
                // After a bad frame the start of the next one is unknown.
                if error.code != .ioFailure && error.code != .timedOut { refuse(socket, error) }
                return
            }
        }
    }

    private func answer(_ frame: ControlFrame) -> ControlFrame {
        do {
            return try handler(try ControlRequest(frame), try frame.author()).frame
        } catch {
            return ControlReply.frame(of: error)
        }
    }

    private func refuse(_ socket: ControlSocket, _ error: RecordError) {
        do {
            try socket.send(ControlReply.frame(of: error))
        } catch {
            logger.debug("A refusal on the control socket was not read: \(error)")
        }
    }
}
