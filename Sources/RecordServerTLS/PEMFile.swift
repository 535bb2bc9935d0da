import CCrypto
import Glibc

/// Certificates and keys in files, as text between `-----BEGIN` and `-----END` (RFC 7468).
enum PEMFile {
    /// Returns the times between which the first certificate of a file is valid, in seconds since
    /// 1970. Returns nil when there is none.
    static func validity(_ path: String) -> ClosedRange<Int64>? {
        read(path) { file in
            guard let certificate = PEM_read_bio_X509(file, nil, nil, nil) else { return nil }
            defer { X509_free(certificate) }
            guard let begin = seconds(X509_get0_notBefore(certificate)),
                let end = seconds(X509_get0_notAfter(certificate)), begin <= end
            else { return nil }
            return begin...end
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        return ASN1_TIME_to_tm(time, &parts) == 1 ? Int64(timegm(&parts)) : nil
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
