import Glibc
import RecordControl
import RecordModel
import RecordSync
import RecordWire

/// The address to which the sign-in page sends the browser: a port that only this machine can
/// reach, for one request.
final class SignInCallback {
    private static let page = """
        <!doctype html><meta charset="utf-8"><title>RecordFS</title>
        <p style="font: 1.2rem sans-serif; margin: 4rem">You are signed in. You can close this page.</p>
        """

    /// A path that no one can guess. Another page or program therefore cannot sign this store in to
    /// an account of its own.
    private let path: String
    private let host: String
    private let listener: Int32
    private let port: UInt16

    /// Opens the port.
    ///
    /// - Parameter given: the address to which the server sends the browser,
    ///   `http://127.0.0.1:PORT/PATH`. Nil for an unused one.
    /// Errors: ioFailure; invalidArgument when it is no address of this machine.
    init(_ given: String? = nil) throws(RecordError) {
        let wanted: UInt16
        if let given {
            (host, wanted, path) = try Self.parts(of: given)
        } else {
            (host, wanted) = ("127.0.0.1", 0)
            path =
                "/"
                + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
        }
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = wanted.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else {
            throw RecordError(
                .ioFailure,
                "no port of this machine can be used: \(String(cString: strerror(errno))). "
                    + "--user signs in without a browser.")
        }
    }

    deinit { close(listener) }

    var url: String { "http://\(host):\(port)\(path)" }

    private static func parts(
        of address: String
    ) throws(RecordError) -> (host: String, port: UInt16, path: String) {
        for host in ["127.0.0.1", "localhost"] where address.hasPrefix("http://\(host):") {
            let rest = address.dropFirst("http://\(host):".count)
            let path = rest.drop { $0 != "/" }
            guard let port = UInt16(rest.prefix { $0 != "/" }), port > 0 else { break }
            return (host, port, path.isEmpty ? "/" : String(path))
        }
        throw RecordError(
            .invalidArgument, "\(address) is no http://127.0.0.1:PORT/PATH of this machine.")
    }

    /// Returns the token that the browser brings. It waits without a limit.
    func wait() throws(RecordError) -> Text {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                if errno == EINTR { continue }
                throw RecordError(
                    .ioFailure, "the browser's answer: \(String(cString: strerror(errno))).")
            }
            defer { close(connection) }
            let target = Self.target(of: Self.head(connection))
            let token = target.flatMap { target in
                target.hasPrefix(path) ? Text("ckWebAuthToken", inQueryOf: target) : nil
            }
            Self.answer(connection, isFound: token != nil)
            if let token { return token }
        }
    }

    /// Returns the head of a request: at most 16 kB, and only the part that arrives within ten
    /// seconds.
    private static func head(_ connection: Int32) -> String {
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while head.count < 16 << 10 {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            head += buffer[..<count]
            if head.suffix(4).elementsEqual([13, 10, 13, 10]) { break }
        }
        return String(decoding: head, as: UTF8.self)
    }

    private static func target(of head: String) -> String? {
        let words = head.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ")
        guard words.count == 3, words[0] == "GET" else { return nil }
        return String(words[1])
    }

    private static func answer(_ connection: Int32, isFound: Bool) {
        let status = isFound ? "200 OK" : "404 Not Found"
        let body = isFound ? page : ""
        let text = """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}

/// The person's browser, if there is one.
enum Browser {
    static func open(_ address: String) {
        guard environmentVariable("DISPLAY") != nil || environmentVariable("WAYLAND_DISPLAY") != nil
        else { return }
        let words = ["xdg-open", address]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var pid: pid_t = 0
        // Without a browser, the person can open the printed address.
        _ = posix_spawnp(&pid, "xdg-open", &actions, nil, arguments, environ)
    }
}
