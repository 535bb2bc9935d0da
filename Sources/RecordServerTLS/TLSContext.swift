import CCrypto
import Glibc
package import RecordWire
import Synchronization

/// The certificate and key for new connections. `reload` reads the files again.
package final class TLSContext: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let settings: Mutex<TLSSettings>

    var current: TLSSettings { settings.withLock { $0 } }

    /// Reads the files. Errors: `internalError` with the fault of the files.
    package init(certificatePath: String, keyPath: String) throws(ServerError) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        settings = Mutex(try Self.read(certificatePath, keyPath))
    }

    /// The time when the certificate ends, in seconds since 1970. It is nil when that cannot be
    /// read.
    package var endSeconds: Int64? { PEMFile.certificateEnd(certificatePath) }

    /// Reads the files again. Open connections keep the earlier certificate and key. After an
    /// error, new ones use them too.
    package func reload() throws(ServerError) {
        let new = try Self.read(certificatePath, keyPath)
        settings.withLock { $0 = new }
    }

    private static func read(
        _ certificatePath: String, _ keyPath: String
    ) throws(ServerError) -> TLSSettings {
        try requireReadable(certificatePath)
        try requireReadable(keyPath)
        guard PEMFile.certificateEnd(certificatePath) != nil else {
            throw failure(
                "\(certificatePath) holds no certificate in PEM form. If it is in DER form: openssl "
                    + "x509 -inform DER -in OLD -out NEW")
        }
        guard let key = PEMFile.privateKey(keyPath) else {
            throw failure(
                "\(keyPath) holds no private key in PEM form, or one with a passphrase. Take the "
                    + "passphrase away: openssl pkey -in OLD -out NEW")
        }
        defer { EVP_PKEY_free(key) }
        guard let settings = TLSSettings() else {
            throw failure("OpenSSL has no memory for its settings.")
        }
        guard settings.use(certificatePath) else {
            throw failure("\(certificatePath) cannot be used: \(TLSFailure.last().reason).")
        }
        guard settings.use(key) else {
            throw failure(
                "The key \(keyPath) is not that of the first certificate of \(certificatePath).")
        }
        return settings
    }

    private static func requireReadable(_ path: String) throws(ServerError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        close(descriptor)
    }

    private static func failure(_ reason: String) -> ServerError {
        ServerError(.internalError, reason)
    }
}
