import CCrypto

/// The rules for connections: versions, suites, certificate and key. It does not change once
/// connections use it.
///
/// `@unchecked Sendable`: OpenSSL locks what several connections share of it.
final class TLSSettings: @unchecked Sendable {
    let handle: OpaquePointer

    init?() {
        guard let made = SSL_CTX_new(TLS_server_method()) else { return nil }
        handle = made
        // For TLS 1.2, allow only suites that authenticate the encrypted data, because those with
        // CBC have leaked for years.
        guard CCrypto_set_min_proto_version(made, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(made, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL") == 1
        else { return nil }
        // A client could make the server work by asking for new keys without end.
        CCrypto_refuse_renegotiation(made)
        // Clients resume by tickets that they keep themselves.
        CCrypto_disable_session_cache(made)
        CCrypto_release_idle_buffers(made)
        SSL_CTX_set_alpn_select_cb(made, chooseHTTP1, nil)
    }

    deinit { SSL_CTX_free(handle) }

    /// Uses the certificate of a file, with those that vouch for it. Returns whether it can be used.
    func use(_ certificatePath: String) -> Bool {
        ERR_clear_error()
        return SSL_CTX_use_certificate_chain_file(handle, certificatePath) == 1
    }

    /// Uses a key. Returns whether it is that of the certificate.
    func use(_ key: OpaquePointer) -> Bool {
        ERR_clear_error()
        return SSL_CTX_use_PrivateKey(handle, key) == 1 && SSL_CTX_check_private_key(handle) == 1
    }
}

/// Chooses `http/1.1` of the protocols that a client names, each after its length in one byte (RFC
/// 7301). A client that names others alone continues without a choice, as one that names none.
private func chooseHTTP1(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    chosenCount: UnsafeMutablePointer<UInt8>?, names: UnsafePointer<UInt8>?, count: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    let bytes = UnsafeBufferPointer(start: names, count: Int(count))
    var at = 0
    while at < bytes.count {
        let end = at + 1 + Int(bytes[at])
        guard end <= bytes.count else { break }
        if bytes[(at + 1)..<end].elementsEqual("http/1.1".utf8) {
            chosen?.pointee = names?.advanced(by: at + 1)
            chosenCount?.pointee = bytes[at]
            return SSL_TLSEXT_ERR_OK
        }
        at = end
    }
    return SSL_TLSEXT_ERR_NOACK
}
