import CCrypto
import Glibc

/// Certificates and keys in files, as text between `-----BEGIN` and `-----END` (RFC 7468).
enum PEMFile {
    /// Returns the time when the first certificate of a file ends, in seconds since 1970. Returns
    /// nil when there is none.
    static func certificateEnd(_ path: String) -> Int64? {
        read(path) { file in
            guard let certificate = PEM_read_bio_X509(file, nil, nil, nil) else { return nil }
            defer { X509_free(certificate) }
            var time = tm()
            guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 else { return nil }
            return Int64(timegm(&time))
        }
    }

    /// Returns the key of a file, which the caller frees. Returns nil when there is none, or one
    /// with a passphrase.
    static func privateKey(_ path: String) -> OpaquePointer? {
        // Without the callback, OpenSSL would ask at the terminal.
        read(path) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    private static func read<Value>(_ path: String, _ body: (OpaquePointer) -> Value?) -> Value? {
        defer { ERR_clear_error() }
        guard let file = BIO_new_file(path, "r") else { return nil }
        defer { BIO_free_all(file) }
        return body(file)
    }
}
