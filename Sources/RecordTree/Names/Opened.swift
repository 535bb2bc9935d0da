import Glibc
import RecordModel

/// A file handle between open and release.
package struct HandleNumber: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The answer to the kernel's open.
package struct Opened: Sendable {
    package let handle: HandleNumber
    /// Indicates that pages of earlier opens are still valid.
    package var keepCache = false
    /// Indicates that the content has no size in advance or changes by itself.
    package var isDirect = false
    /// Indicates that closing the file needs no flush.
    package var needsNoFlush = false
}
