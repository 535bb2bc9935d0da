import Foundation

/// How much the tests do that only find more the longer they run.
package enum LongForm {
    /// `RECORDFS_LONG=1 scripts/test` takes minutes more.
    package static let isAskedFor = ProcessInfo.processInfo.environment["RECORDFS_LONG"] == "1"

    /// The seeds of a random walk: the first few, or all in the long form.
    package static func seeds(_ few: Int, of all: Int) -> ClosedRange<Int> {
        1...(isAskedFor ? all : few)
    }
}
