/// The agreement between the kernel and the file system at the beginning of a mount.
package struct Connection: Sendable {
    package struct Capabilities: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Several reads of one handle run at the same time, in any order.
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
        /// The kernel chooses between readdir and readdirplus by the behaviour of the reader.
        package static let readdirPlusAuto = Capabilities(rawValue: 1 << 14)
        package static let asyncDirectIO = Capabilities(rawValue: 1 << 15)
        package static let writebackCache = Capabilities(rawValue: 1 << 16)
        /// Lookups and readdirs of one directory run at the same time.
        package static let parallelDirectoryOperations = Capabilities(rawValue: 1 << 18)
        package static let posixACL = Capabilities(rawValue: 1 << 19)
        /// The file system clears set-user-id and set-group-id bits at write, truncate and chown.
        package static let handleKillPrivileges = Capabilities(rawValue: 1 << 20)
        package static let cacheSymlinks = Capabilities(rawValue: 1 << 23)
        /// Cached pages are dropped by notification only.
        package static let explicitInvalidateData = Capabilities(rawValue: 1 << 25)

        /// The capabilities that a session requests unless the file system changes them: pages and
        /// attributes are dropped by notification only, and writes arrive as they are made.
        ///
        /// Every listing includes attributes. When the kernel chooses (`readdirPlusAuto`), it
        /// requests them with the first page only. Each further file then needs its own lookup as
        /// soon as a program wants its attributes: after a plain `ls`, and in every program that
        /// reads a directory to its end before it looks at the files (find -size, du, tar, rsync).
        package static let standard: Capabilities = [
            .asyncRead, .atomicTruncate, .spliceWrite, .readdirPlus,
            .parallelDirectoryOperations, .cacheSymlinks, .explicitInvalidateData,
        ]
    }

    /// The capabilities of this kernel.
    package let capable: Capabilities
    /// The capabilities that this file system uses. Those that the kernel does not have are left
    /// out without an error.
    package var wanted: Capabilities
    /// The largest size of one write, in bytes.
    package var maxWrite: UInt32
    /// The amount that the kernel reads ahead, in bytes.
    package var maxReadahead: UInt32
    /// The largest number of read-ahead requests at the same time.
    package var maxBackground: UInt32
    package let protocolMajor: UInt32
    package let protocolMinor: UInt32
}
