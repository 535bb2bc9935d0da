import Glibc

/// A system error number, as calls through the mount return it.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// The error of the last failed system call of this thread.
    package static var last: Errno { Errno(errno) }

    /// The words of `strerror`.
    package var description: String {
        // glibc's strerror is safe on any thread since 2.32: known numbers have constant texts.
        guard let words = strerror(rawValue) else { return "Unknown error \(rawValue)" }
        return String(cString: words)
    }
}

// Computed, not stored: a stored static would pay for a lazy initialiser at each use.
extension Errno {
    package static var EPERM: Errno { Errno(Glibc.EPERM) }
    package static var ENOENT: Errno { Errno(Glibc.ENOENT) }
    package static var EINTR: Errno { Errno(Glibc.EINTR) }
    package static var EIO: Errno { Errno(Glibc.EIO) }
    package static var ENXIO: Errno { Errno(Glibc.ENXIO) }
    package static var E2BIG: Errno { Errno(Glibc.E2BIG) }
    package static var EBADF: Errno { Errno(Glibc.EBADF) }
    package static var EAGAIN: Errno { Errno(Glibc.EAGAIN) }
    package static var ENOMEM: Errno { Errno(Glibc.ENOMEM) }
    package static var EACCES: Errno { Errno(Glibc.EACCES) }
    package static var EBUSY: Errno { Errno(Glibc.EBUSY) }
    package static var EEXIST: Errno { Errno(Glibc.EEXIST) }
    package static var EXDEV: Errno { Errno(Glibc.EXDEV) }
    package static var ENODEV: Errno { Errno(Glibc.ENODEV) }
    package static var ENOTDIR: Errno { Errno(Glibc.ENOTDIR) }
    package static var EISDIR: Errno { Errno(Glibc.EISDIR) }
    package static var EINVAL: Errno { Errno(Glibc.EINVAL) }
    package static var ENFILE: Errno { Errno(Glibc.ENFILE) }
    package static var EMFILE: Errno { Errno(Glibc.EMFILE) }
    package static var ENOTTY: Errno { Errno(Glibc.ENOTTY) }
    package static var ETXTBSY: Errno { Errno(Glibc.ETXTBSY) }
    package static var EFBIG: Errno { Errno(Glibc.EFBIG) }
    package static var ENOSPC: Errno { Errno(Glibc.ENOSPC) }
    package static var ESPIPE: Errno { Errno(Glibc.ESPIPE) }
    package static var EROFS: Errno { Errno(Glibc.EROFS) }
    package static var EMLINK: Errno { Errno(Glibc.EMLINK) }
    package static var EPIPE: Errno { Errno(Glibc.EPIPE) }
    package static var ERANGE: Errno { Errno(Glibc.ERANGE) }
    package static var ENAMETOOLONG: Errno { Errno(Glibc.ENAMETOOLONG) }
    package static var ENOSYS: Errno { Errno(Glibc.ENOSYS) }
    package static var ENOTEMPTY: Errno { Errno(Glibc.ENOTEMPTY) }
    package static var ELOOP: Errno { Errno(Glibc.ELOOP) }
    package static var ENODATA: Errno { Errno(Glibc.ENODATA) }
    package static var EPROTO: Errno { Errno(Glibc.EPROTO) }
    package static var EBADMSG: Errno { Errno(Glibc.EBADMSG) }
    package static var EOVERFLOW: Errno { Errno(Glibc.EOVERFLOW) }
    package static var EILSEQ: Errno { Errno(Glibc.EILSEQ) }
    package static var EOPNOTSUPP: Errno { Errno(Glibc.EOPNOTSUPP) }
    package static var ENOTCONN: Errno { Errno(Glibc.ENOTCONN) }
    package static var ECONNABORTED: Errno { Errno(Glibc.ECONNABORTED) }
    package static var ETIMEDOUT: Errno { Errno(Glibc.ETIMEDOUT) }
    package static var ESTALE: Errno { Errno(Glibc.ESTALE) }
    package static var EDQUOT: Errno { Errno(Glibc.EDQUOT) }
    package static var ECANCELED: Errno { Errno(Glibc.ECANCELED) }
}
