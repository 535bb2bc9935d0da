import CCrypto
package import RecordModel

/// A key that signs with ECDSA and SHA-256, as clients of the server have one. It is never changed.
package final class SigningKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// A new key on a curve.
    package init(curve: String = "prime256v1") throws {
        var made: OpaquePointer?
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, curve) == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw NoKey() }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    /// What `openssl pkey` prints of it.
    package var privatePEM: Text {
        get throws { try text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) } }
    }

    /// What `openssl pkey -pubout` prints of it.
    package var publicPEM: Text {
        get throws { try text { PEM_write_bio_PUBKEY($0, key) } }
    }

    private func text(_ write: (OpaquePointer?) -> Int32) throws -> Text {
        let sink = BIO_new(BIO_s_mem())
        defer { BIO_free(sink) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard write(sink) == 1 else { throw NoKey() }
        let count = BIO_read(sink, &bytes, Int32(bytes.count))
        return Text(utf8: Array(bytes.prefix(Int(count))))
    }

    /// In DER.
    package func signature(for message: [UInt8]) throws -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 256)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw NoKey() }
        return Array(signature.prefix(count))
    }

    private struct NoKey: Error {}
}
