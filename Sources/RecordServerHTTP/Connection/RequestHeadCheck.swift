import NIOHTTP1
import RecordWire

/// The rules for a request's head, whatever its path. A head that a proxy and this server could
/// read in two ways is refused (RFC 9112, sections 3 and 6).
struct RequestHeadCheck {
    /// The head as the server uses it, with its target in origin form.
    private(set) var head: HTTPRequestHead
    private(set) var refusal: ConnectionRefusal?

    init(_ head: HTTPRequestHead) {
        self.head = head
        refusal = Self.version(head) ?? Self.host(head) ?? Self.length(head) ?? target()
    }

    private static func version(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        head.version == .http1_1 || head.version == .http1_0
            ? nil : .bad("This server speaks HTTP/1.1.")
    }

    private static func host(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        let hosts = head.headers["Host"]
        guard hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0) else {
            return .bad("A request has one Host.")
        }
        guard hosts.allSatisfy({ ClientIdentity.cleanHost($0) != nil }) else {
            return .bad("The Host is not a host.")
        }
        return nil
    }

    private static func length(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        let lengths = head.headers["Content-Length"]
        let encodings = head.headers["Transfer-Encoding"]
        guard lengths.count + encodings.count <= 1 else {
            return .bad("A body has one Content-Length or one Transfer-Encoding.")
        }
        if let encoding = encodings.first {
            guard head.version == .http1_1, encoding.lowercased() == "chunked" else {
                return .bad("Transfer-Encoding is `chunked`, in HTTP/1.1.")
            }
        }
        if let length = lengths.first {
            let isNumber =
                (1...18).contains(length.utf8.count)
                && length.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            guard isNumber else { return .bad("Content-Length is a number of bytes.") }
        }
        return nil
    }

    /// Converts the absolute form, which clients send to proxies, to the origin form.
    private mutating func target() -> ConnectionRefusal? {
        if head.method == .CONNECT {
            return ConnectionRefusal(.methodNotAllowed, "This server is no proxy.")
        }
        if head.uri.utf8.first == UInt8(ascii: "/") { return nil }
        if head.uri == "*", head.method == .OPTIONS { return nil }
        let lowercased = head.uri.prefix(8).lowercased()
        guard
            let scheme = ["http://", "https://"].first(where: { lowercased.hasPrefix($0) })
        else { return .bad("The target of a request begins with `/`.") }
        let rest = head.uri.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard ClientIdentity.cleanHost(String(rest[..<end])) != nil else {
            return .bad("The target of the request has no host.")
        }
        head.headers.replaceOrAdd(name: "Host", value: String(rest[..<end]))
        head.uri = (rest[end...].first == "/" ? "" : "/") + rest[end...]
        return nil
    }
}

/// An answer that the connection sends without asking any route before it ends.
struct ConnectionRefusal: Error {
    let status: HTTPResponseStatus
    let code: ServerErrorCode
    let reason: String

    init(
        _ status: HTTPResponseStatus, _ reason: String,
        code: ServerErrorCode = .badRequest
    ) {
        self.status = status
        self.reason = reason
        self.code = code
    }

    static func bad(_ reason: String) -> ConnectionRefusal {
        ConnectionRefusal(.badRequest, reason)
    }
    static let late = ConnectionRefusal(
        .requestTimeout, "The request did not arrive in time.")
    static let largeHeader = ConnectionRefusal(
        .requestHeaderFieldsTooLarge, "The header of the request is too large.",
        code: .limitExceeded)
    static let noAnswer = ConnectionRefusal(
        .serviceUnavailable, "The operation takes too long. It may still be done.",
        code: .tryAgainLater)
    static let crowded = ConnectionRefusal(
        .serviceUnavailable, "Too many connections are open.", code: .tryAgainLater)
}
