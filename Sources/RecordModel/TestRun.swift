#if canImport(Glibc)
import Glibc
#endif

/// Whether this process runs for tests.
package enum TestRun {
    /// Set in the environment of processes that may do what nobody else should ask for.
    package static let variable = "RECORDFS_TEST"

    package static var isDeclared: Bool { getenv(variable) != nil }
}
