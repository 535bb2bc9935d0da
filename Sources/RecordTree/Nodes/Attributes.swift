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

    /// Returns the number of blocks of 512 bytes for a size.
    static func blocks(of size: Int64) -> Int64 { size / 512 + (size % 512 > 0 ? 1 : 0) }
}

/// A node with its attributes, as a lookup returns it.
package struct NodeEntry: Sendable {
    package let node: NodeNumber
    package let attributes: Attributes
    /// Indicates whether the kernel may keep the entry and its attributes until it is notified.
    package var isCacheable: Bool
}

/// The changes that a setattr requests. Nil leaves a value unchanged.
package struct NodeChanges: Sendable {
    package enum Time: Sendable {
        case now
        case at(Timestamp)
    }
    package var mode: UInt32?
    package var owner: UInt32?
    package var group: UInt32?
    package var size: Int64?
    package var accessed: Time?
    package var modified: Time?
    package init() {}
}

/// The flags of open(2) with which the caller opened a file.
package struct OpenMode: Sendable {
    package let flags: Int32
    package init(flags: Int32) { self.flags = flags }
}

/// The caller of a request.
package struct Requester: Sendable {
    package let threadID: Int32
    package let user: UInt32
    package let group: UInt32

    /// - Parameter user: and `group`: the owner of the caller's new files; the daemon's own by
    ///   default.
    package init(threadID: Int32, user: UInt32 = geteuid(), group: UInt32 = getegid()) {
        self.threadID = threadID
        self.user = user
        self.group = group
    }
}

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

/// One name of a directory listing.
package struct ListedEntry: Sendable {
    package let name: [UInt8]
    package let entry: NodeEntry
    /// The offset at which a reader continues after this name.
    package let next: UInt64
}

/// The answer to a read.
package enum ReadResult: Sendable {
    case bytes([UInt8])
    /// A range of a real file; the descriptor stays open while the value lives.
    case file(HostFile, offset: Int64, count: Int)
    /// The bytes are not on this machine yet: the closure starts the wait.
    case deferred(DeferredCall)
}

/// Starts a wait, and returns it so that it can be ended.
package typealias DeferredCall = @Sendable (@escaping DeferredAnswer) -> Waiting

/// Called once with the bytes or with the error; never after the wait was ended.
package typealias DeferredAnswer = @Sendable (Result<ReadResult, RecordError>) -> Void

/// A call that waits for bytes.
package struct Waiting: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the wait, because its caller has gone: nothing waits any more, and no answer follows.
    /// Does nothing after an answer.
    package func giveUp() { end() }
}
