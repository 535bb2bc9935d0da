import Glibc
import RecordModel

/// A thing that the kernel has cached and that is no longer valid.
package enum KernelNotice: Sendable, Hashable {
    /// The name belongs to another file now, or to none. Users of the old file see it as deleted.
    case replaced(parent: NodeNumber, name: [UInt8], old: NodeNumber)
    /// The attributes and pages of a file, or the cached listing of a directory.
    case content(NodeNumber)
    /// A name that was added or removed, or that has another meaning.
    case entry(parent: NodeNumber, name: [UInt8])
}
