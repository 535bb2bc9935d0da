package import RecordModel

/// Requests over HTTP/1.1, on connections that are kept open. libcurl carries them.
package struct HTTPCall: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        /// The header lines, with names in lower case.
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]

        package subscript(name: String) -> String? {
            headers.first { $0.name == name.lowercased() }?.value
        }
    }

    /// The largest answer: a page of a feed may be long, but no request asks for more.
    private static let largestAnswer = 256 << 20

    /// The body of a request.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(OutgoingFile)
    }

    private let authority: String?

    /// - Parameter authority: a file with the certificates, as PEM, of authorities that are trusted
    ///   in addition to those of the system.
    package init(authority: String? = nil) { self.authority = authority }

    /// Returns the time limit for the bytes of an asset, or of a request: at least 16 KiB a second
    /// are expected.
    static func patience(bytes: Int64) -> Duration { .seconds(60 + bytes >> 14) }

    /// - Parameter patience: the time limit up to the last byte of the answer.
    /// - Throws: unreachable, when there is no whole answer.
    package func send(
        _ method: String, _ url: String, headers: [(String, String)] = [], body: Body = .none,
        patience: Duration = .seconds(60)
    ) async throws(SyncProblem) -> Answer {
        let transfer = begin(method, url, headers, body, patience)
        // Ends a request that is given up before its end.
        defer { TransferLoop.shared.cancel(transfer) }
        do {
            return try await whole(transfer, try await transfer.head())
        } catch {
            throw Self.problem(error)
        }
    }

    /// Receives the body of an answer, piece by piece. `take` returns whether it wants more.
    ///
    /// - Parameter bytes: the number of bytes that the time limit allows for.
    /// - Throws: unreachable, when the answer is incomplete; the errors that `take` throws, as
    ///   `store`.
    /// - Returns: nil for status 200 and 206. Otherwise the whole answer; nothing of it was given
    ///   to `take`.
    package func receive(
        _ url: String, headers: [(String, String)] = [], bytes: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) -> Answer? {
        let transfer = begin("GET", url, headers, .none, Self.patience(bytes: bytes))
        defer { TransferLoop.shared.cancel(transfer) }
        do {
            let head = try await transfer.head()
            guard head.status == 200 || head.status == 206 else {
                return try await whole(transfer, head)
            }
            while let piece = try await transfer.next() {
                guard try await take(piece) else { break }
            }
            return nil
        } catch let error as RecordError {
            throw .store(error)
        } catch {
            throw Self.problem(error)
        }
    }

    private func whole(_ transfer: Transfer, _ head: Transfer.Head) async throws -> Answer {
        var body: [UInt8] = []
        while let piece = try await transfer.next() {
            guard body.count + piece.count <= Self.largestAnswer else {
                throw HTTPFailure.tooLong
            }
            body += piece
        }
        return Answer(status: head.status, headers: head.headers, body: body)
    }

    private func begin(
        _ method: String, _ url: String, _ headers: [(String, String)], _ body: Body,
        _ patience: Duration
    ) -> Transfer {
        TransferLoop.shared.begin(
            Transfer.Request(
                method: method, url: url, headers: headers.map { "\($0): \($1)" }, body: body,
                authority: authority, patience: patience))
    }

    private static func problem(_ error: any Error) -> SyncProblem {
        (error as? HTTPFailure)?.problem ?? .unreachable("\(error)")
    }
}
