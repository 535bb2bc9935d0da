import Glibc

/// What a lookup found: the node, what `stat` shows of it, and for how long the kernel may believe
/// both without asking again.
///
/// Each one that reaches the kernel counts as one lookup of the node, to be undone by `forget`.
package struct Entry: Sendable {
    package var node: NodeID
    /// Tells reused node numbers apart, for NFS export.
    package var generation: UInt64
    package var attributes: FileAttributes
    /// Seconds for which the name stands for this node.
    package var entryTimeout: Double
    /// Seconds for which the attributes hold.
    package var attributeTimeout: Double

    package init(
        node: NodeID, generation: UInt64 = 0, attributes: FileAttributes,
        entryTimeout: Double, attributeTimeout: Double
    ) {
        self.node = node
        self.generation = generation
        self.attributes = attributes
        self.entryTimeout = entryTimeout
        self.attributeTimeout = attributeTimeout
    }
}

/// What an open made, and how the kernel is to treat it.
package struct OpenedFile: Sendable {
    package var handle: FileHandle
    /// Pages cached by earlier opens stay valid.
    package var keepCache = false
    /// No page cache: reads and writes arrive as they are made. Breaks shared mappings.
    package var directIO = false
    /// Directories only: the kernel keeps the listing, and `keepCache` on a later open uses it.
    package var cacheReaddir = false
    /// Close sends no FLUSH; for handles that cannot have unsaved changes.
    package var noFlush = false
    /// A stream: no seeking, and reads are not cut at the size in the attributes when `directIO`
    /// is set too.
    package var nonSeekable = false

    package init(
        handle: FileHandle, keepCache: Bool = false, directIO: Bool = false,
        cacheReaddir: Bool = false, noFlush: Bool = false, nonSeekable: Bool = false
    ) {
        self.handle = handle
        self.keepCache = keepCache
        self.directIO = directIO
        self.cacheReaddir = cacheReaddir
        self.noFlush = noFlush
        self.nonSeekable = nonSeekable
    }
}

/// The flags of `open(2)`. O_CREAT, O_EXCL and O_NOCTTY do not reach a file system's open.
package struct OpenFlags: Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package var canRead: Bool { rawValue & O_ACCMODE != O_WRONLY }
    package var canWrite: Bool { rawValue & O_ACCMODE != O_RDONLY }
    /// O_TRUNC: the file is to be empty when the open is answered; no truncate call follows.
    package var truncates: Bool { rawValue & O_TRUNC != 0 }
    /// O_APPEND: the kernel has put the write at the end it knows of.
    package var appends: Bool { rawValue & O_APPEND != 0 }
    package var isExclusive: Bool { rawValue & O_EXCL != 0 }
    package var isNonBlocking: Bool { rawValue & O_NONBLOCK != 0 }
}

/// The flags of `renameat2(2)`.
package struct RenameFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Fail with EEXIST when the new name exists.
    package static let noReplace = RenameFlags(rawValue: 1 << 0)
    /// Both names exist and change places.
    package static let exchange = RenameFlags(rawValue: 1 << 1)
    package static let whiteout = RenameFlags(rawValue: 1 << 2)
}

/// The flags of `setxattr(2)`.
package struct ExtendedAttributeFlags: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Fail with EEXIST when the attribute exists.
    package static let create = ExtendedAttributeFlags(rawValue: 1)
    /// Fail with ENODATA when the attribute does not exist.
    package static let replace = ExtendedAttributeFlags(rawValue: 2)
}

/// What `statfs` shows. Blocks count in `blockSize`.
package struct FileSystemStatistics: Hashable, Sendable {
    package var blockSize: UInt64 = 4096
    package var blocks: UInt64 = 0
    package var freeBlocks: UInt64 = 0
    package var availableBlocks: UInt64 = 0
    package var files: UInt64 = 0
    package var freeFiles: UInt64 = 0
    /// Longest name, in bytes.
    package var nameLength: UInt64 = 255

    package init() {}
}
