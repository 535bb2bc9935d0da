import Glibc
import NIOCore
package import RecordWire
import Synchronization

/// An address that nobody else can take, and at which nobody can connect yet: a socket that is
/// bound and does not listen. The listening socket may be bound beside it.
package final class AddressReservation: Sendable {
    /// The port. It is the real one when 0 was asked for.
    package let port: Int
    private let descriptor: Mutex<Int32?>

    /// Reserves the address. Errors: `tryAgainLater` when it is not free or does not belong to this
    /// machine.
    package init(_ configuration: ServerConfiguration) throws(ServerError) {
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(
                configuration.host, port: configuration.port)
        } catch {
            throw configuration.cannotListen("there is no such host")
        }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.protocol == .inet6 ? AF_INET6 : AF_INET, type, 0)
        guard descriptor >= 0 else { throw configuration.cannotListen(errno: errno) }
        var one: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        guard isBound, let port = Self.port(of: descriptor) else {
            let code = errno
            close(descriptor)
            throw configuration.cannotListen(errno: code)
        }
        self.port = port
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Releases the address. Call it once somebody listens there. Calling it again is harmless.
    package func release() {
        let open = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        if let open { close(open) }
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isKnown else { return nil }
        // The port has the same place in addresses of both families.
        return withUnsafeBytes(of: &storage) { bytes in
            Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }
}

extension ServerConfiguration {
    func cannotListen(_ cause: String) -> ServerError {
        ServerError(.tryAgainLater, "The server cannot listen at \(authority): \(cause).")
    }

    func cannotListen(errno code: Int32) -> ServerError {
        cannotListen(String(cString: strerror(code)))
    }
}
