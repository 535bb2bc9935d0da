import CCrypto

extension TLSSettings {
    /// Makes a connection in memory, with a client that trusts every certificate. Returns whether
    /// its handshake is done: no client could make one with some kinds of keys.
    func canServe() -> Bool {
        defer { ERR_clear_error() }
        guard let settings = SSL_CTX_new(TLS_client_method()) else { return false }
        defer { SSL_CTX_free(settings) }
        guard let client = SSL_new(settings), let server = SSL_new(handle) else { return false }
        defer {
            SSL_free(client)
            SSL_free(server)
        }
        var (one, other): (OpaquePointer?, OpaquePointer?)
        guard BIO_new_bio_pair(&one, 0, &other, 0) == 1 else { return false }
        SSL_set_bio(client, one, one)
        SSL_set_bio(server, other, other)
        SSL_set_connect_state(client)
        SSL_set_accept_state(server)
        // A handshake takes three flights; a long chain of certificates needs more turns.
        for _ in 0..<1_000 {
            let results = [client, server].map { ($0, SSL_do_handshake($0)) }
            if results.allSatisfy({ $0.1 == 1 }) { return true }
            for (side, result) in results where result != 1 {
                let error = SSL_get_error(side, result)
                guard error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE else {
                    return false
                }
            }
        }
        return false
    }
}
