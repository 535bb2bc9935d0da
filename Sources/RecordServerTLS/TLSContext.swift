import Glibc
import NIOSSL
package import RecordWire
import Synchronization

/// The certificate and key for new connections. `reload` reads the files again.
package final class TLSContext: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let context: Mutex<NIOSSLContext>

    var current: NIOSSLContext { context.withLock { $0 } }

    /// Reads the files. Errors: `internalError` with the fault of the files.
    package init(certificatePath: String, keyPath: String) throws(ServerError) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        context = Mutex(try Self.read(certificatePath, keyPath))
    }

    /// The time when the certificate ends, in seconds since 1970. It is nil when that cannot be
    /// read.
    package var endSeconds: Int64? {
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificatePath),
            let first = chain.first
        else { return nil }
        return Int64(first.notValidAfter)
    }

    /// Reads the files again. Open connections keep the earlier certificate and key. After an
    /// error, new ones use them too.
    package func reload() throws(ServerError) {
        let new = try Self.read(certificatePath, keyPath)
        context.withLock { $0 = new }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws(ServerError)
        -> NIOSSLContext
    {
        try requireReadable(certificatePath)
        try requireReadable(keyPath)
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificatePath), !chain.isEmpty else {
            throw failure("\(certificatePath) holds no certificate in PEM form.")
        }
        // Without the callback, BoringSSL would ask at the terminal.
        guard
            let key = try? NIOSSLPrivateKey(
                file: keyPath, format: .pem, passphraseCallback: { $0(Array<UInt8>()) })
        else {
            throw failure(
                "\(keyPath) holds no private key in PEM form, or one with a passphrase. Take the "
                    + "passphrase away: openssl pkey -in OLD -out NEW")
        }
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        settings.minimumTLSVersion = .tlsv12
        // For TLS 1.2, allow only suites that authenticate the encrypted data, because those with
        // CBC have leaked for years.
        settings.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL"
        settings.applicationProtocols = ["http/1.1"]
        guard let context = try? NIOSSLContext(configuration: settings) else {
            throw failure(
                "The key \(keyPath) is not that of the first certificate of \(certificatePath).")
        }
        return context
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
