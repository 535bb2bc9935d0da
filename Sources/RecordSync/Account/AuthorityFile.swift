import Glibc

/// The certificates of authorities that a store trusts in addition to those of the system.
package struct AuthorityFile: Sendable {
    package let path: String

    package init(stateDirectory: String) { path = "\(stateDirectory)/authority.pem" }

    /// The path for `HTTPExchange`. Nil when there is no such file.
    package var existing: String? { access(path, R_OK) == 0 ? path : nil }
}
