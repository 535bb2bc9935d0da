import RecordModel

/// A change that was not made through the mount, as a path for the touch that makes inotify report
/// it.
package struct Touch: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case created
        case changed
        case deleted
    }
    package let kind: Kind
    /// The directory by its node and its path below the mount point.
    package let directory: NodeNumber
    package let directoryPath: [UInt8]
    package let name: [UInt8]
}
