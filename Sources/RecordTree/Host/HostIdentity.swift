import Glibc
import RecordModel

/// The properties that identify a file of the host under any name.
struct HostIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}

extension HostIdentity {
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
