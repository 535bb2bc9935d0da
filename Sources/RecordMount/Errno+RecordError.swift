package import FuseKit
package import RecordModel

extension Errno {
    /// What a failed call answers. The one place in which a code becomes an errno.
    package init(_ error: RecordError) {
        switch error.code {
        case .invalidJSON, .invalidRecord, .schemaMismatch: self = .EINVAL
        case .tooLarge: self = .EFBIG
        // EINVAL would make mv say that the target is a subdirectory of the source.
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
        case .system: self = Errno(error.systemErrno)
        }
    }
}
