import Glibc
package import RecordWire

extension ServerError {
    /// Returns the error for a call of the system that failed on a file: `tryAgainLater` when there
    /// is no space, otherwise `internalError`.
    package static func file(_ verb: String, _ path: String, _ code: Int32) -> ServerError {
        ServerError(
            code == ENOSPC ? .tryAgainLater : .internalError,
            "Cannot \(verb) \(path): \(String(cString: strerror(code))).")
    }
}
