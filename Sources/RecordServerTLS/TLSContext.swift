import CCrypto
import Glibc
import RecordModel
package import RecordWire
import Synchronization

/// The certificate and key for new connections. `reload` reads the files again.
package final class TLSContext: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let loaded: Mutex<Loaded>

    private struct Loaded {
        let settings: TLSSettings
        let validSeconds: ClosedRange<Int64>
    }

    var current: TLSSettings { loaded.withLock { $0.settings } }

    /// Reads the files. Errors: `internalError` with the fault of the files.
    package init(certificatePath: String, keyPath: String) throws(ServerError) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        loaded = Mutex(try Self.read(certificatePath, keyPath))
    }

    /// The times between which the certificate is valid, in seconds since 1970.
    package var validSeconds: ClosedRange<Int64> { loaded.withLock { $0.validSeconds } }

    /// Returns why clients refuse the certificate at a time, in seconds since 1970. Returns nil when
    /// it is valid then.
    package func fault(at now: Int64) -> String? {
        let valid = validSeconds
        func text(_ seconds: Int64) -> String { ISO8601.print(milliseconds: seconds * 1_000) }
        if now < valid.lowerBound { return "is not valid before \(text(valid.lowerBound))" }
        return now > valid.upperBound ? "has ended at \(text(valid.upperBound))" : nil
    }

    /// Reads the files again. Open connections keep the earlier certificate and key. After an
    /// error, new ones use them too.
    package func reload() throws(ServerError) {
        let new = try Self.read(certificatePath, keyPath)
        loaded.withLock { $0 = new }
    }

    private static func read(
        _ certificatePath: String, _ keyPath: String
    ) throws(ServerError) -> Loaded {
        try requireReadableFile(certificatePath)
        try requireReadableFile(keyPath)
        guard let validSeconds = PEMFile.validity(certificatePath) else {
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
        guard settings.canServe() else {
            throw failure(
                "No client can use the certificate \(certificatePath), for its kind of key. Make one "
                    + "with a key of EC prime256v1, Ed25519, or RSA of 2048 bits or more.")
        }
        return Loaded(settings: settings, validSeconds: validSeconds)
    }

    private static func requireReadableFile(_ path: String) throws(ServerError) {
        // O_NONBLOCK: the open of a pipe would wait for its writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("\(path) is no file; name a file in PEM form.")
        }
    }

    private static func failure(_ reason: String) -> ServerError {
        ServerError(.internalError, reason)
    }
}
