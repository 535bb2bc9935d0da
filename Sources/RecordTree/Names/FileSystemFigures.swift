import Glibc
import RecordModel
import RecordStore

/// A file system's figures for statfs.
package struct FileSystemFigures: Hashable, Sendable {
    package var blockSize: UInt64
    package var blocks, blocksFree, blocksAvailable: UInt64
    package var files, filesFree: UInt64
    package var nameLengthMax: UInt64

    /// Puts a quota in place of the size of the disk. Space of the quota that the disk does not
    /// have counts as free but not available, like the space that a file system reserves for root.
    /// When the size of the quota is not known, its free space is used as its size.
    mutating func apply(_ quota: Quota) {
        let total = quota.totalBytes ?? quota.freeBytes
        blocks = UInt64(max(total, 0)) / blockSize
        blocksFree = min(UInt64(max(quota.freeBytes, 0)) / blockSize, blocks)
        blocksAvailable = min(blocksFree, blocksAvailable)
    }
}
