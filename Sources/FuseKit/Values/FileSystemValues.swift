import Glibc

/// The result of a lookup: the node, the attributes that `stat` shows of it, and the times for
/// which the kernel may use both without asking again.
///
/// Each entry that reaches the kernel counts as one lookup of the node, which `forget` takes back.
package struct LookupEntry: Sendable {
    package var node: NodeID
    /// A number that distinguishes reused node numbers, for NFS export.
    package var generation: UInt64
    package var attributes: FileAttributes
    /// The number of seconds for which the name belongs to this node.
    package var entryTimeout: Double
    /// The number of seconds for which the attributes are valid.
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

/// The result of an open, and its treatment by the kernel.
package struct OpenedFile: Sendable {
    package var handle: FileHandle
    /// Indicates that pages cached by earlier opens stay valid.
    package var keepCache = false
    /// Indicates that there is no page cache: reads and writes arrive as they are made. Breaks
    /// shared mappings.
    package var directIO = false
    /// Indicates that the kernel keeps the listing, and that `keepCache` on a later open uses it.
    /// For directories only.
    package var cacheReaddir = false
    /// Indicates that close sends no FLUSH. For handles that cannot have unsaved changes.
    package var noFlush = false
    /// Indicates a stream: it has no seeking, and reads are not limited to the size in the
    /// attributes when `directIO` is set too.
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
    /// Indicates O_TRUNC: the file must be empty when the open is answered. No truncate call
    /// follows.
    package var truncates: Bool { rawValue & O_TRUNC != 0 }
    /// Indicates O_APPEND: the kernel has placed the write at the end of the file that it knows.
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

/// The figures that `statfs` shows. Blocks are counted in units of `blockSize`.
package struct FileSystemStatistics: Hashable, Sendable {
    package var blockSize: UInt64 = 4096
    package var blocks: UInt64 = 0
    package var freeBlocks: UInt64 = 0
    package var availableBlocks: UInt64 = 0
    package var files: UInt64 = 0
    package var freeFiles: UInt64 = 0
    /// The length of the longest name, in bytes.
    package var nameLength: UInt64 = 255

    package init() {}
}
