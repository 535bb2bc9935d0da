import Glibc
import RecordModel

/// A node with its attributes, as a lookup returns it.
package struct NodeEntry: Sendable {
    package let node: NodeNumber
    package let attributes: Attributes
    /// Indicates whether the kernel may keep the entry and its attributes until it is notified.
    package var isCacheable: Bool
}

/// One name of a directory listing.
package struct ListedEntry: Sendable {
    package let name: [UInt8]
    package let entry: NodeEntry
    /// The offset at which a reader continues after this name.
    package let next: UInt64
}
