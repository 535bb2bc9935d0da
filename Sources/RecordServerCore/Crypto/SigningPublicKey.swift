import CCrypto
import RecordModel

/// The public half of a key that signs with ECDSA on the curve prime256v1 and SHA-256, by OpenSSL.
final class SigningPublicKey {
    private let key: OpaquePointer

    /// Reads a key. Returns nil for anything except such a key in PEM form, as `openssl ec -pubout`
    /// prints it.
    init?(pem: Text) {
        defer { ERR_clear_error() }
        let bytes = pem.utf8
        let found = bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let count = Int32(exactly: bytes.count),
                let source = BIO_new_mem_buf(bytes.baseAddress, count)
            else { return nil }
            defer { BIO_free(source) }
            // An encrypted key has no password here. Without the callback, OpenSSL would ask for it
            // at the terminal.
            return PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let found else { return nil }
        guard Self.curve(of: found) == "prime256v1" else {
            EVP_PKEY_free(found)
            return nil
        }
        key = found
    }

    deinit { EVP_PKEY_free(key) }

    private static func curve(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_is_a(key, "EC") == 1,
            EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
        else { return nil }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The PEM form in lines of 64 characters, without the text around it. It is nil when there is
    /// not enough memory.
    var pem: Text? {
        defer { ERR_clear_error() }
        guard let sink = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(sink) }
        guard PEM_write_bio_PUBKEY(sink, key) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = BIO_read(sink, &bytes, Int32(bytes.count))
        return count > 0 ? Text(utf8: Array(bytes.prefix(Int(count)))) : nil
    }

    /// Returns whether the signature, in DER, is a signature of the message by the owner of the
    /// key.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
