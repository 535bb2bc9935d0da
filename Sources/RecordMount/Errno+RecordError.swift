package import FuseKit
package import RecordModel

extension Errno {
    /// The errno that a failed call returns. This is the only place in which an error code becomes
    /// an errno.
    package init(_ error: RecordError) { self.init(error.code, call: error.systemErrno) }

    /// - Parameter call: the errno of the failed system call, for `system`.
    init(_ code: RecordError.Code, call: Int32 = Errno.EIO.rawValue) {
        switch code {
        case .invalidJSON, .invalidRecord, .schemaMismatch: self = .EINVAL
        case .tooLarge: self = .EFBIG
        // With EINVAL mv would say that the target is a subdirectory of the source.
        case .refusedRename: self = .EPROTO
        case .invalidName: self = .EINVAL
        case .nameTooLong: self = .ENAMETOOLONG
        case .notFound: self = .ENOENT
        case .alreadyExists: self = .EEXIST
        case .notEmpty: self = .ENOTEMPTY
        case .isDirectory: self = .EISDIR
        case .notDirectory: self = .ENOTDIR
        case .crossDevice: self = .EXDEV
        case .notPermitted: self = .EPERM
        case .accessDenied: self = .EACCES
        case .readOnly: self = .EROFS
        case .unsupported: self = .EOPNOTSUPP
        case .invalidArgument: self = .EINVAL
        case .noSuchAttribute: self = .ENODATA
        case .rangeTooSmall: self = .ERANGE
        case .stale: self = .ESTALE
        // libuv and older tools do not know EDQUOT.
        case .noSpace, .quotaExceeded: self = .ENOSPC
        case .tooManyOpenFiles: self = .EMFILE
        case .storeLocked: self = .EBUSY
        case .storeTooNew, .corrupt, .ioFailure, .unavailable, .timedOut: self = .EIO
        case .interrupted: self = .EINTR
        case .system: self = Errno(call)
        }
    }
}
