import Foundation
import Glibc
import Synchronization
import TestSupport

/// A way to a server on this machine that counts what goes through.
final class CountingProxy: Sendable {
    struct Count: Sendable, Equatable {
        var requests = 0
        var bytes = 0
    }

    private struct Failure: Error { let what: String }

    let port: Int
    private let listener: Int32
    private let count = Mutex(Count())

    init(to server: Int) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(listener, place, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, place, &length) == 0
            }
        }
        guard isBound else { throw Failure(what: "no port") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self, let upstream = Self.connect(to: server) else {
                    close(client)
                    continue
                }
                self.pass(client, upstream)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var current: Count { count.withLock(\.self) }

    /// What went through since the last call, both ways.
    func take() -> Count {
        count.withLock { count in
            defer { count = Count() }
            return count
        }
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func connect(to port: Int) -> Int32? {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(port: port)
        let isThere = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isThere else {
            close(upstream)
            return nil
        }
        return upstream
    }

    private func pass(_ client: Int32, _ upstream: Int32) {
        Thread.detachNewThread { [weak self] in Self.copy(client, upstream, self, isRequest: true) }
        Thread.detachNewThread { [weak self] in
            Self.copy(upstream, client, self, isRequest: false)
        }
    }

    private static let head = Array(" HTTP/1.1\r\n".utf8)

    private static func copy(
        _ from: Int32, _ to: Int32, _ proxy: CountingProxy?, isRequest: Bool
    ) {
        weak let proxy = proxy
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = recv(from, &buffer, buffer.count, 0)
            guard got > 0 else { break }
            let piece = buffer[..<got]
            let heads = isRequest ? piece.indices.count { piece[$0...].starts(with: head) } : 0
            proxy?.count.withLock {
                $0.bytes += got
                $0.requests += heads
            }
            var done = 0
            while done < got {
                let sent = buffer.withUnsafeBytes { bytes in
                    send(to, bytes.baseAddress.map { $0 + done }, got - done, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { break }
                done += sent
            }
        }
        shutdown(to, Int32(SHUT_WR))
    }
}
