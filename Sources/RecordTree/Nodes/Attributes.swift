import Glibc
package import RecordModel

/// What `stat` shows of a node.
package struct Attributes: Sendable {
    package var inode: UInt64
    /// Type and permission bits, as in `st_mode`.
    package var mode: UInt32
    package var links: UInt32 = 1
    package var owner: UInt32
    package var group: UInt32
    /// In bytes.
    package var size: Int64
    /// In units of 512 bytes.
    package var blocks: Int64
    package var accessed: Timestamp
    package var modified: Timestamp
    package var changed: Timestamp
    /// Which device a device node stands for, as in `st_rdev`.
    package var device: UInt64 = 0
    /// Whether the kernel is told when they become others by something else than its own calls.
    package var isAnnounced = true

    /// The space of so many bytes in whole blocks of 512.
    static func blocks(of size: Int64) -> Int64 { size / 512 + (size % 512 > 0 ? 1 : 0) }
}

/// A node with its attributes, as a lookup returns it.
package struct NodeEntry: Sendable {
    package let node: NodeNumber
    package let attributes: Attributes
    /// Whether the kernel may keep the entry and its attributes until it is told otherwise.
    package var isCacheable: Bool
}

/// The changes that a setattr asks for; nil leaves a value as it is.
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

/// How the caller opened a file: the flags of open(2).
package struct OpenMode: Sendable {
    package let flags: Int32
    package init(flags: Int32) { self.flags = flags }
}

/// Who asks.
package struct Requester: Sendable {
    package let threadID: Int32
    package let user: UInt32
    package let group: UInt32

    /// - Parameter user: and `group`: whose the caller's new files are; the daemon's own without.
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

/// What an open tells the kernel.
package struct Opened: Sendable {
    package let handle: HandleNumber
    /// Pages of earlier opens are still right.
    package var keepCache = false
    /// The content has no size in advance or changes by itself.
    package var isDirect = false
    /// Closing it has nothing to say.
    package var needsNoFlush = false
}

/// One name of a directory listing.
package struct ListedEntry: Sendable {
    package let name: [UInt8]
    package let entry: NodeEntry
    /// Where a reader that has taken this name goes on.
    package let next: UInt64
}

/// The answer to a read.
package enum ReadResult: Sendable {
    case bytes([UInt8])
    /// A range of a real file; the descriptor stays open while the value lives.
    case file(HostFile, offset: Int64, count: Int)
    /// Bytes that are not here yet: the closure starts the wait.
    case deferred(DeferredCall)
}

/// Starts a wait, and tells how to give it up.
package typealias DeferredCall = @Sendable (@escaping DeferredAnswer) -> Waiting

/// Called once with the bytes, or with what hinders them; never after the wait was given up.
package typealias DeferredAnswer = @Sendable (Result<ReadResult, RecordError>) -> Void

/// A call that waits for bytes.
package struct Waiting: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Its caller has gone: nothing waits any more, and no answer comes. Harmless after an answer.
    package func giveUp() { end() }
}
