import Dispatch
import Glibc
import Synchronization

/// A connection that sends exactly the bytes it is told to, as slowly as the test likes.
///
/// Its calls block: use it inside `RawHTTP.run`, which has threads of its own.
package final class RawConnection: Sendable {
    private let descriptor: Int32
    private let isOpen = Mutex(true)
    private let received = Mutex<[UInt8]>([])
    /// How long each call waits, in seconds.
    private let patience: Double

    /// - Parameters:
    ///   - pause: how long each call waits, in seconds, when nothing is expected to come.
    ///   - receiveBuffer: what the kernel takes in for a client that does not read, in bytes.
    package init(port: Int, pause: Double? = nil, receiveBuffer: Int32? = nil) throws {
        patience = pause ?? 30 * Deadline.patience
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw RawHTTPError("socket: errno \(errno)") }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(4))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(4))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        // `deinit` closes: it runs also when this throws.
        guard result == 0 else { throw RawHTTPError("connect: errno \(errno)") }
    }

    /// A port of 127.0.0.1 that nobody had at this moment.
    package static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw RawHTTPError("socket: errno \(errno)") }
        defer { Glibc.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw RawHTTPError("bind: errno \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close() }

    package func close() {
        let wasOpen = isOpen.withLock { open in
            defer { open = false }
            return open
        }
        if wasOpen { Glibc.close(descriptor) }
    }

    /// Ends the connection with RST.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger,
            socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            try wait(for: Int16(POLLOUT))
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress, $0.count,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                sent += count
            } else if errno != EAGAIN && errno != EINTR {
                throw RawHTTPError("send: errno \(errno)")
            }
        }
    }

    /// The next answer; nil when the connection ended before its first byte. Answers of status 1xx
    /// are given like others.
    package func readAnswer(toHead: Bool = false) throws -> RawAnswer? {
        while true {
            if let answer = try received.withLock({ try RawAnswer.take(&$0, toHead: toHead) }) {
                return answer
            }
            guard try readMore() else {
                return try received.withLock { rest in
                    guard !rest.isEmpty else { return nil }
                    throw RawHTTPError("ended inside an answer: \(rest.prefix(200))")
                }
            }
        }
    }

    /// What was received and not taken yet, up to the end of the connection. A reset counts as end.
    package func readToEnd() throws -> [UInt8] {
        while try readMore() {}
        return received.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
    }

    /// One piece of what comes next; nil at the end.
    package func readPiece() throws -> [UInt8]? {
        guard try readMore() else { return nil }
        return received.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
    }

    private func readMore() throws -> Bool {
        try wait(for: Int16(POLLIN))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { received.withLock { $0 += buffer.prefix(count) } }
        if count < 0, errno != ECONNRESET { throw RawHTTPError("recv: errno \(errno)") }
        return count > 0
    }

    private func wait(for events: Int16) throws {
        var item = pollfd(fd: descriptor, events: events, revents: 0)
        let result = poll(&item, 1, Int32(patience * 1000))
        guard result > 0 else {
            throw RawHTTPError(
                result == 0 ? "nothing came in \(patience) s" : "poll: errno \(errno)")
        }
    }
}

package struct RawHTTPError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// An answer as it came over the wire.
package struct RawAnswer: Sendable, Equatable {
    package var status: Int
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    package var text: String { String(decoding: body, as: UTF8.self) }

    package static func == (left: RawAnswer, right: RawAnswer) -> Bool {
        left.status == right.status && left.body == right.body
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }

    /// Takes one whole answer from the front; nil when more bytes are needed.
    package static func take(_ bytes: inout [UInt8], toHead: Bool) throws -> RawAnswer? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard let split = bytes.firstRange(of: end) else { return nil }
        let lines = String(decoding: bytes[..<split.lowerBound], as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw RawHTTPError("not an answer: \(lines[0])")
        }
        var answer = RawAnswer(status: status, headers: [], body: [])
        for line in lines.dropFirst() {
            let parts = line.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw RawHTTPError("not a header field: \(line)") }
            answer.headers.append(
                (parts[0].lowercased(), String(parts[1].drop { $0 == " " })))
        }
        var rest = Array(bytes[split.upperBound...])
        if toHead || status == 204 || status == 304 || (100..<200).contains(status) {
            bytes = rest
            return answer
        }
        if answer.header("transfer-encoding") == "chunked" {
            guard let body = try takeChunks(&rest) else { return nil }
            answer.body = body
        } else {
            guard let length = answer.header("content-length").flatMap({ Int($0) }) else {
                throw RawHTTPError("an answer without a length")
            }
            guard rest.count >= length else { return nil }
            answer.body = Array(rest.prefix(length))
            rest.removeFirst(length)
        }
        bytes = rest
        return answer
    }

    private static func takeChunks(_ bytes: inout [UInt8]) throws -> [UInt8]? {
        var body: [UInt8] = []
        var at = 0
        while let line = bytes[at...].firstRange(of: [13, 10]) {
            let size = String(decoding: bytes[at..<line.lowerBound], as: UTF8.self)
            guard let count = Int(size, radix: 16) else { throw RawHTTPError("chunk \(size)") }
            let start = line.upperBound
            guard bytes.count >= start + count + 2 else { return nil }
            body += bytes[start..<start + count]
            at = start + count + 2
            if count == 0 {
                bytes.removeFirst(at)
                return body
            }
        }
        return nil
    }
}

/// Blocking work of tests, off the cooperative pool.
package enum RawHTTP {
    private static let number = Atomic<Int>(0)

    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let queue = DispatchQueue(
            label: "raw-http.\(number.add(1, ordering: .relaxed).newValue)")
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    /// One request on a connection of its own.
    package static func request(
        port: Int, _ method: String, _ target: String, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) async throws -> RawAnswer {
        try await run {
            let connection = try RawConnection(port: port)
            var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
            try connection.send(Array((head + "Connection: close\r\n\r\n").utf8) + body)
            guard let answer = try connection.readAnswer(toHead: method == "HEAD") else {
                throw RawHTTPError("no answer to \(method) \(target)")
            }
            return answer
        }
    }
}
