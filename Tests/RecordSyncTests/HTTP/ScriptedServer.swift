import Foundation
import Glibc
import Synchronization
import TestSupport

/// A server that does with each of its connections, in the order of their coming, what a script says.
final class ScriptedServer: Sendable {
    /// The server's end of a connection. Its calls block.
    struct Connection: Sendable {
        fileprivate let descriptor: Int32

        /// The head of the next request, with the part of the body that came along; nil when the client has closed.
        func head() -> String? {
            var text: [UInt8] = []
            while !String(decoding: text, as: UTF8.self).contains("\r\n\r\n") {
                guard let piece = read() else { return nil }
                text += piece
            }
            return String(decoding: text, as: UTF8.self)
        }

        /// Nil when the client has closed.
        func read() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        /// - Returns: false when the client has closed.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var done = 0
            while done < bytes.count {
                let sent = bytes[done...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return false }
                done += sent
            }
            return true
        }

        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }
    }

    private struct Failure: Error { let what: String }

    let url: String
    private let listener: Int32

    /// - Parameter script: closes the connection when it returns.
    init(_ script: @escaping @Sendable (_ number: Int, Connection) -> Void) throws {
        let port = try RawConnection.freePort()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        url = "http://127.0.0.1:\(port)/"
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    && listen(listener, 16) == 0
            }
        }
        guard isListening else { throw Failure(what: "no port") }
        Thread.detachNewThread {
            var number = 0
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let current = number
                number += 1
                Thread.detachNewThread {
                    script(current, Connection(descriptor: descriptor))
                    close(descriptor)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
