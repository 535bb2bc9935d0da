import CCrypto
import NIOCore

/// The server's side of one TLS connection, as bytes in and bytes out. It knows no socket.
///
/// After an error nothing but `takeOutgoing` may be called, for the alert that tells the client.
struct TLSConnection: ~Copyable {
    /// The result of reading.
    enum Reading {
        case bytes
        /// More bytes of the client are needed.
        case more
        /// The client sends nothing more.
        case ended
    }

    private let handle: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// Begins a connection. Errors: OpenSSL has no memory.
    init(_ settings: TLSSettings) throws(TLSFailure) {
        ERR_clear_error()
        guard let made = SSL_new(settings.handle) else { throw TLSFailure.last() }
        guard let incoming = CCrypto_new_memory(), let outgoing = CCrypto_new_memory() else {
            SSL_free(made)
            throw TLSFailure.last()
        }
        handle = made
        self.incoming = incoming
        self.outgoing = outgoing
        // From here on the connection owns both.
        SSL_set_bio(made, incoming, outgoing)
        SSL_set_accept_state(made)
    }

    deinit { SSL_free(handle) }

    /// Takes bytes that the client sent.
    func receive(_ buffer: ByteBuffer) throws(TLSFailure) {
        let isTaken = buffer.withUnsafeReadableBytes { bytes in
            bytes.isEmpty
                || BIO_write(incoming, bytes.baseAddress, Int32(bytes.count)) == bytes.count
        }
        if !isTaken { throw TLSFailure("OpenSSL has no memory for what a client sent") }
    }

    /// Continues the handshake. Returns whether it is done.
    func handshake() throws(TLSFailure) -> Bool {
        ERR_clear_error()
        let result = SSL_do_handshake(handle)
        if result == 1 { return true }
        guard SSL_get_error(handle, result) == SSL_ERROR_WANT_READ else { throw TLSFailure.last() }
        return false
    }

    /// Appends content to a buffer, at most as much as it has room for. The buffer must have room.
    func read(into buffer: inout ByteBuffer) throws(TLSFailure) -> Reading {
        ERR_clear_error()
        var result: Int32 = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { room in
            result = SSL_read(handle, room.baseAddress, Int32(clamping: room.count))
            return max(0, Int(result))
        }
        if result > 0 { return .bytes }
        switch SSL_get_error(handle, result) {
        case SSL_ERROR_WANT_READ: return .more
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: throw TLSFailure.last()
        }
    }

    /// Encrypts content. It can be taken from `takeOutgoing` after that.
    func write(_ buffer: ByteBuffer) throws(TLSFailure) {
        guard buffer.readableBytes > 0 else { return }
        ERR_clear_error()
        let count = buffer.withUnsafeReadableBytes { bytes in
            SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        // The memory takes everything, so that there are no partial writes.
        guard count == buffer.readableBytes else { throw TLSFailure.last() }
    }

    /// Tells the client that nothing more is sent.
    func end() {
        ERR_clear_error()
        _ = SSL_shutdown(handle)
        ERR_clear_error()
    }

    /// Returns the bytes for the client, if there are any.
    func takeOutgoing(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return nil }
        var buffer = allocator.buffer(capacity: count)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            max(0, Int(BIO_read(outgoing, room.baseAddress, Int32(clamping: count))))
        }
        return buffer
    }
}

/// A connection that cannot continue, in the words of OpenSSL.
struct TLSFailure: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The last error of this thread.
    static func last() -> TLSFailure {
        defer { ERR_clear_error() }
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else {
            return TLSFailure("unknown")
        }
        return TLSFailure(String(cString: text))
    }
}
