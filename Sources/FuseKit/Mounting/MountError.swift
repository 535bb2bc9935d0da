/// The reason why a mount or unmount failed, in words that help a user to act.
package struct MountError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The kernel has no FUSE, or this process may not see it.
        case deviceMissing
        /// The program that mounts for ordinary users is not installed.
        case helperMissing
        case mountpointMissing
        case notDirectory
        case notEmpty
        /// Something is already mounted there.
        case alreadyMounted
        /// The mount is left over from a process that has died.
        case stale
        case notMounted
        case busy
        case notPermitted
        case failed
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
