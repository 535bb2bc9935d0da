import Glibc
import TestSupport

/// Runs a command of the shell, and returns all that it prints.
func shell(_ command: String) async throws -> String {
    let process = try ServerProcess(program: "/bin/sh", ["-c", command])
    _ = try await process.wait()
    return process.outputText + process.errorText
}

/// Makes a certificate that is signed by its own key, and the key.
func makeCertificate(
    _ name: String, _ certificate: String, _ key: String, curve: String = "prime256v1"
) async throws {
    let text = try await shell(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:\(curve) -nodes -days 2 "
            + "-subj /CN=\(name) -keyout \(key) -out \(certificate)")
    guard access(certificate, R_OK) == 0 else { throw RawHTTPError(text) }
}
