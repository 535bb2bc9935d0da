import Glibc
import RecordModel

/// A node with its attributes, as a lookup returns it.
package struct NodeEntry: Sendable {
    package let node: NodeNumber
    package let attributes: Attributes
    /// Indicates whether the kernel may keep the entry and its attributes until it is notified.
    package var isCacheable: Bool
    /// Indicates whether the kernel may keep them for a second, although nobody will notify it.
    package var isBrief = false

    /// The entry under this name: the kernel does not keep a name that may mean another file
    /// without a call for it.
    func named(_ name: [UInt8], in parent: Node) -> NodeEntry {
        var entry = self
        if NameMeaning.isVolatile(name, in: parent) { entry.isCacheable = false }
        return entry
    }
}

/// One name of a directory listing.
package struct ListedEntry: Sendable {
    package let name: [UInt8]
    package let entry: NodeEntry
    /// The offset at which a reader continues after this name.
    package let next: UInt64
}
