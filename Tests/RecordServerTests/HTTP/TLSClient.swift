import CCrypto
import TestSupport

/// The client's side of a TLS connection without a socket. It trusts every certificate.
final class TLSClient {
    private let settings: OpaquePointer
    private let handle: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private(set) var isConnected = false
    /// The server has said that it sends nothing more.
    private(set) var sawEnd = false
    /// The connection is broken: an alert, or bytes that are no TLS.
    private(set) var hasFailed = false

    /// - Parameter protocols: those of ALPN, each after its length.
    init(protocols: [UInt8] = []) throws {
        guard let settings = SSL_CTX_new(TLS_client_method()), let handle = SSL_new(settings),
            let incoming = CCrypto_new_memory(), let outgoing = CCrypto_new_memory()
        else { throw RawHTTPError("no memory") }
        (self.settings, self.handle) = (settings, handle)
        (self.incoming, self.outgoing) = (incoming, outgoing)
        SSL_set_bio(handle, incoming, outgoing)
        SSL_set_connect_state(handle)
        if !protocols.isEmpty { SSL_set_alpn_protos(handle, protocols, UInt32(protocols.count)) }
    }

    deinit {
        SSL_free(handle)
        SSL_CTX_free(settings)
    }

    var chosenProtocol: String {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(handle, &name, &count)
        return String(
            decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    func receive(_ bytes: [UInt8]) { BIO_write(incoming, bytes, Int32(bytes.count)) }

    /// Continues the handshake, and returns the content that has arrived.
    func read() -> [UInt8] {
        ERR_clear_error()
        if !isConnected {
            let result = SSL_do_handshake(handle)
            isConnected = result == 1
            note(result)
        }
        var content: [UInt8] = []
        while isConnected, !sawEnd, !hasFailed {
            var part = [UInt8](repeating: 0, count: 20_000)
            let count = SSL_read(handle, &part, Int32(part.count))
            note(count)
            guard count > 0 else { break }
            content += part.prefix(Int(count))
        }
        return content
    }

    private func note(_ result: Int32) {
        guard result <= 0 else { return }
        switch SSL_get_error(handle, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: sawEnd = true
        default: hasFailed = true
        }
    }

    func write(_ content: [UInt8]) { SSL_write(handle, content, Int32(content.count)) }
    /// Asks the server for new keys, as often as a client can.
    func askForKeys() {
        SSL_key_update(handle, SSL_KEY_UPDATE_REQUESTED)
        SSL_do_handshake(handle)
    }
    func end() { SSL_shutdown(handle) }

    /// Takes the bytes for the server.
    func take() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(outgoing)))
        guard !bytes.isEmpty else { return [] }
        BIO_read(outgoing, &bytes, Int32(bytes.count))
        return bytes
    }
}
