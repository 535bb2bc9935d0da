import Glibc
package import RecordModel

/// The attributes that `stat` shows of a node.
package struct Attributes: Sendable {
    package var inode: UInt64
    /// Type and permission bits, as in `st_mode`.
    package var mode: UInt32
    package var links: UInt32 = 1
    package var owner: UInt32
    package var group: UInt32
    /// The size in bytes.
    package var size: Int64
    /// The space in units of 512 bytes.
    package var blocks: Int64
    package var accessed: Timestamp
    package var modified: Timestamp
    package var changed: Timestamp
    /// The device of a device node, as in `st_rdev`.
    package var device: UInt64 = 0
    /// Indicates whether the kernel is notified of changes of the attributes that it does not make
    /// itself.
    package var isAnnounced = true

    mutating func setSize(_ size: Int64) {
        self.size = size
        blocks = Self.blocks(of: size)
    }

    /// Returns the number of blocks of 512 bytes for a size.
    static func blocks(of size: Int64) -> Int64 { size / 512 + (size % 512 > 0 ? 1 : 0) }
}
