import Foundation

/// How much the tests do that only find more the longer they run.
package enum LongForm {
    /// `RECORDFS_LONG=1 scripts/test` takes minutes more.
    package static let isAskedFor = ProcessInfo.processInfo.environment["RECORDFS_LONG"] == "1"
}
