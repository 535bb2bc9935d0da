import CFuse3
import Glibc

/// A point in time as `stat` shows it; nanoseconds are 0..<1 000 000 000 also before 1970.
package struct Time: Hashable, Sendable, Comparable {
    package var seconds: Int64
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The real-time clock.
    package static var now: Time {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Time(time)
    }

    package static func < (left: Time, right: Time) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    init(_ time: Glibc.timespec) {
        seconds = Int64(time.tv_sec)
        nanoseconds = Int64(time.tv_nsec)
    }

    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
    }
}

/// The attributes that `stat` shows of a node.
///
/// `size` must be exact: the kernel reads no further, whatever the file system would answer.
package struct FileAttributes: Hashable, Sendable {
    package var inode: UInt64
    /// The type (`S_IFREG`, ...) and the permission bits.
    package var mode: UInt32
    package var linkCount: UInt32
    package var uid: UInt32
    package var gid: UInt32
    /// The size in bytes.
    package var size: Int64
    /// The space used, in units of 512 bytes.
    package var blocks: Int64
    package var accessTime: Time
    package var modificationTime: Time
    package var changeTime: Time
    package var device: UInt64

    /// Attributes whose space is their size rounded up to whole blocks, and whose three times are
    /// `time`.
    package init(
        inode: UInt64, mode: UInt32, linkCount: UInt32 = 1, uid: UInt32, gid: UInt32,
        size: Int64 = 0, time: Time
    ) {
        self.inode = inode
        self.mode = mode
        self.linkCount = linkCount
        self.uid = uid
        self.gid = gid
        self.size = size
        blocks = size / 512 + (size % 512 > 0 ? 1 : 0)
        accessTime = time
        modificationTime = time
        changeTime = time
        device = 0
    }

    func fill(_ status: inout stat) {
        status.st_ino = ino_t(inode)
        status.st_mode = mode
        status.st_nlink = nlink_t(linkCount)
        status.st_uid = uid
        status.st_gid = gid
        status.st_rdev = dev_t(device)
        status.st_size = off_t(size)
        status.st_blksize = 4096
        status.st_blocks = blkcnt_t(blocks)
        status.st_atim = accessTime.timespec
        status.st_mtim = modificationTime.timespec
        status.st_ctim = changeTime.timespec
    }
}

/// The changes that `chmod`, `chown`, `truncate` or `utimensat` requests. Nil leaves a value
/// unchanged.
package struct AttributeChanges: Hashable, Sendable {
    package enum TimeChange: Hashable, Sendable {
        case set(Time)
        /// The time of the call. Any writer may request it; only the owner may request another
        /// time.
        case now
    }

    package var mode: UInt32?
    package var uid: UInt32?
    package var gid: UInt32?
    package var size: Int64?
    package var accessTime: TimeChange?
    package var modificationTime: TimeChange?
    package var changeTime: Time?

    package init() {}
}
