import CFuse3
import Glibc
import Synchronization

/// Adds to the answer to INIT a flag that libfuse 3.14 leaves out: the file system clears the
/// set-user-id and set-group-id bits itself.
///
/// libfuse accepts FUSE_CAP_HANDLE_KILLPRIV but does not pass it on. Without the flag the kernel
/// asks for the attributes at each chown, before it asks for the change (`tar`, `sed -i`,
/// `install`).
enum InitAnswer {
    /// FUSE_HANDLE_KILLPRIV of linux/fuse.h.
    private static let handlesKillPrivileges: UInt32 = 1 << 19
    /// The offset of the flags in the answer: after major, minor and readahead.
    private static let flagsOffset = 12

    /// Sends the answers of a mounted session through this program's `writev`. Without it the
    /// kernel only asks more often, so a failure here is not an error.
    static func watch(_ session: OpaquePointer) {
        var io = fuse_custom_io()
        io.read = { descriptor, buffer, size, _ in Glibc.read(descriptor, buffer, size) }
        io.writev = { descriptor, parts, count, context in
            if let context, let parts { InitAnswer.complete(parts, count, context) }
            return Glibc.writev(descriptor, parts, count)
        }
        io.splice_receive = { from, fromOffset, to, toOffset, length, flags, _ in
            recordfs_splice(from, fromOffset, to, toOffset, length, flags)
        }
        io.splice_send = { from, fromOffset, to, toOffset, length, flags, _ in
            recordfs_splice(from, fromOffset, to, toOffset, length, flags)
        }
        _ = fuse_session_custom_io(session, &io, fuse_session_fd(session))
    }

    private static func complete(
        _ parts: UnsafeMutablePointer<iovec>, _ count: Int32, _ context: UnsafeMutableRawPointer
    ) {
        // Unretained: the Session that owns the box outlives every answer.
        let box = Unmanaged<FileSystemBox>.fromOpaque(context).takeUnretainedValue()
        guard box.answersInit.load(ordering: .relaxed), count == 2,
            let header = parts[0].iov_base, let answer = parts[1].iov_base,
            parts[1].iov_len >= flagsOffset + 4,
            // A notification, which another thread may send, has no number.
            header.loadUnaligned(fromByteOffset: 8, as: UInt64.self) != 0,
            box.answersInit.exchange(false, ordering: .relaxed)
        else { return }
        let flags = answer.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self)
        answer.storeBytes(
            of: flags | handlesKillPrivileges, toByteOffset: flagsOffset, as: UInt32.self)
    }
}
