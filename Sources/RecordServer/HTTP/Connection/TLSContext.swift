import NIOSSL
package import RecordWire
import Synchronization

/// The certificate and key that new connections get; `reload` reads the files again.
package final class TLSContext: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let context: Mutex<NIOSSLContext>

    var current: NIOSSLContext { context.withLock { $0 } }

    /// Errors: `internalError`, with what is wrong with the files.
    package init(certificatePath: String, keyPath: String) throws(ServerError) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        context = Mutex(try Self.read(certificatePath, keyPath))
    }

    /// Open connections keep what they have; after an error new ones do, too.
    package func reload() throws(ServerError) {
        let new = try Self.read(certificatePath, keyPath)
        context.withLock { $0 = new }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws(ServerError)
        -> NIOSSLContext
    {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificatePath)
            let key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
            var settings = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            settings.minimumTLSVersion = .tlsv12
            settings.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: settings)
        } catch {
            throw ServerError(
                .internalError,
                "The certificate \(certificatePath) with the key \(keyPath) cannot be used: "
                    + "\(error)")
        }
    }
}
