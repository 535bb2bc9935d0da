#if canImport(Glibc)
import Glibc
#endif

/// Tells whether this process runs for tests.
package enum TestRun {
    /// The variable in the environment of processes that may do things that nobody outside a test
    /// should request.
    package static let variable = "RECORDFS_TEST"

    package static var isDeclared: Bool { getenv(variable) != nil }
}
