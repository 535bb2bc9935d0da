import Glibc
import RecordModel

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
