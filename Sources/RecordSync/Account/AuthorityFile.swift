import Glibc

/// The certificates of authorities that a store trusts besides those of the system.
package struct AuthorityFile: Sendable {
    package let path: String

    package init(stateDirectory: String) { path = "\(stateDirectory)/authority.pem" }

    /// Its path for `HTTPExchange`; nil where there is none.
    package var existing: String? { access(path, R_OK) == 0 ? path : nil }
}
