/// What the kernel and the file system agree on when the mount begins.
package struct Connection: Sendable {
    package struct Capabilities: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Several reads of one handle at a time, in any order.
        package static let asyncRead = Capabilities(rawValue: 1 << 0)
        /// O_TRUNC arrives in open.
        package static let atomicTruncate = Capabilities(rawValue: 1 << 3)
        package static let dontMask = Capabilities(rawValue: 1 << 6)
        package static let spliceWrite = Capabilities(rawValue: 1 << 7)
        package static let spliceMove = Capabilities(rawValue: 1 << 8)
        package static let spliceRead = Capabilities(rawValue: 1 << 9)
        /// Cached pages are dropped when a getattr shows another modification time.
        package static let autoInvalidateData = Capabilities(rawValue: 1 << 12)
        package static let readdirPlus = Capabilities(rawValue: 1 << 13)
        /// The kernel chooses between readdir and readdirplus by what the reader does.
        package static let readdirPlusAuto = Capabilities(rawValue: 1 << 14)
        package static let asyncDirectIO = Capabilities(rawValue: 1 << 15)
        package static let writebackCache = Capabilities(rawValue: 1 << 16)
        /// Lookups and readdirs of one directory at the same time.
        package static let parallelDirectoryOperations = Capabilities(rawValue: 1 << 18)
        package static let posixACL = Capabilities(rawValue: 1 << 19)
        /// The file system clears set-user-id and set-group-id bits at write, truncate and chown.
        package static let handleKillPrivileges = Capabilities(rawValue: 1 << 20)
        package static let cacheSymlinks = Capabilities(rawValue: 1 << 23)
        /// Cached pages are dropped by notification only.
        package static let explicitInvalidateData = Capabilities(rawValue: 1 << 25)

        /// What a session asks for unless the file system changes it: pages and attributes are
        /// dropped by notification only, and writes arrive as they are made.
        ///
        /// Every listing brings attributes along. When the kernel chooses (`readdirPlusAuto`), it
        /// asks for them with the first page only, and each file beyond costs a lookup of its own
        /// as soon as somebody wants its attributes: after a plain `ls`, and in every program that
        /// reads a directory to its end before it looks at the files (find -size, du, tar, rsync).
        package static let standard: Capabilities = [
            .asyncRead, .atomicTruncate, .spliceWrite, .readdirPlus,
            .parallelDirectoryOperations, .cacheSymlinks, .explicitInvalidateData,
        ]
    }

    /// What this kernel can do.
    package let capable: Capabilities
    /// What this file system uses; what the kernel cannot do is left out without an error.
    package var wanted: Capabilities
    /// The most bytes of one write.
    package var maxWrite: UInt32
    /// How far the kernel reads ahead, in bytes.
    package var maxReadahead: UInt32
    /// How many read-ahead requests may be on their way at a time.
    package var maxBackground: UInt32
    package let protocolMajor: UInt32
    package let protocolMinor: UInt32
}
