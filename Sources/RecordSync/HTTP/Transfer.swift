import Synchronization

/// One request and its answer, between the task that wants it and the thread that carries it
/// (`TransferLoop`).
///
/// The answer arrives in pieces. While the task takes no pieces, the connection is not read.
final class Transfer: Sendable {
    struct Request: Sendable {
        let method: String
        let url: String
        /// The lines of the head, `NAME: VALUE`.
        let headers: [String]
        let body: HTTPCall.Body
        /// A file with certificates that are trusted in addition to those of the system.
        let authority: String?
        /// The time limit up to the last byte of the answer.
        let patience: Duration
    }

    struct Head: Sendable {
        let status: Int
        /// The header lines, with names in lower case.
        let headers: [(name: String, value: String)]
    }

    private struct State {
        var head: Head?
        var status = 0
        var lines: [(name: String, value: String)] = []
        var pieces: [[UInt8]] = []
        var bytes = 0
        var isPaused = false
        /// The outcome. Nil while the transfer is running.
        var outcome: Result<Void, HTTPFailure>?
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The number of bytes that wait here at most.
    private static let mostWaiting = 1 << 20

    let id: UInt
    let request: Request
    private let state = Mutex(State())

    init(_ id: UInt, _ request: Request) {
        self.id = id
        self.request = request
    }

    var isOver: Bool { state.withLock { $0.outcome != nil } }

    // MARK: The task that wants it

    /// Waits for the head of the answer. Errors: `HTTPFailure`, `CancellationError`.
    func head() async throws -> Head {
        while true {
            let (head, outcome) = state.withLock { ($0.head, $0.outcome) }
            if let head { return head }
            try outcome?.get()
            if outcome != nil { throw HTTPFailure.noAnswer }
            try await wait { $0.head != nil }
        }
    }

    /// Waits for the next piece of the body; nil at its end. Errors: as those of `head`.
    func next() async throws -> [UInt8]? {
        while true {
            let (piece, outcome, goesOn) = state.withLock { state in
                let piece = state.pieces.isEmpty ? nil : state.pieces.removeFirst()
                state.bytes -= piece?.count ?? 0
                let goesOn = state.isPaused && state.bytes < Self.mostWaiting / 2
                if goesOn { state.isPaused = false }
                return (piece, state.outcome, goesOn)
            }
            if goesOn { TransferLoop.shared.goOn(self) }
            if let piece { return piece }
            if let outcome {
                try outcome.get()
                return nil
            }
            try await wait { !$0.pieces.isEmpty }
        }
    }

    /// Returns when the condition is met, or the transfer has ended.
    private func wait(for isThere: @escaping (State) -> Bool) async throws {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.outcome != nil || isThere(state) { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            TransferLoop.shared.cancel(self)
        }
        try Task.checkCancellation()
    }

    // MARK: The thread that carries it

    /// Takes a line of the head, without its end. An empty line ends the head.
    func take(line: Substring) {
        change { state in
            if line.hasPrefix("HTTP/") {
                // An answer of a proxy, or 100 Continue, precedes the head.
                state.lines = []
                state.status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            } else if let colon = line.firstIndex(of: ":") {
                let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
                state.lines.append((line[..<colon].lowercased(), String(value)))
            } else if line.isEmpty, state.status >= 200 {
                state.head = Head(status: state.status, headers: state.lines)
            }
        }
    }

    /// Adds a piece of the body.
    /// - Returns: false when the piece has to be offered again, after `TransferLoop.goOn`.
    func take(piece: UnsafeRawBufferPointer) -> Bool {
        change { state in
            guard state.bytes < Self.mostWaiting else {
                state.isPaused = true
                return false
            }
            state.pieces.append(Array(piece))
            state.bytes += piece.count
            return true
        }
    }

    func end(_ outcome: Result<Void, HTTPFailure>) {
        change { state in
            if state.outcome == nil { state.outcome = outcome }
        }
    }

    private func change<Answer>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, waiter) = state.withLock { state in
            let answer = body(&state)
            defer { state.waiter = nil }
            return (answer, state.waiter)
        }
        waiter?.resume()
        return answer
    }
}
