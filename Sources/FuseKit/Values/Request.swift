import CFuse3
import Glibc

/// One call of the kernel that waits for its answer.
///
/// It is answered exactly once: a reply takes the raw request out. If it is dropped unanswered, the
/// caller gets EIO instead of waiting for ever.
struct Request: ~Copyable, @unchecked Sendable {
    // @unchecked: libfuse lets any thread answer a request, and being ~Copyable keeps it to one.
    private let raw: fuse_req_t

    init(_ raw: fuse_req_t) { self.raw = raw }

    deinit { fuse_reply_err(raw, EIO) }

    /// Returns the request, and with it the duty to answer it.
    consuming func take() -> fuse_req_t {
        let raw = raw
        discard self
        return raw
    }

    /// Returns the request for calls that need it but do not answer it.
    borrowing func peek() -> fuse_req_t { raw }

    var caller: CallingProcess {
        guard let context = fuse_req_ctx(raw) else { return CallingProcess(uid: 0, gid: 0, pid: 0) }
        return CallingProcess(
            uid: context.pointee.uid, gid: context.pointee.gid, pid: context.pointee.pid,
            umask: context.pointee.umask)
    }
}
