import Glibc
import RecordModel

/// The code of an error that is expected.
func code(_ body: () throws -> Void) throws -> RecordError.Code? {
    do { try body() } catch let error as RecordError { return error.code }
    return nil
}

extension RecordError {
    /// The errno of the table in MountContract, "What calls answer".
    var contractErrno: Int32 {
        switch code {
        case .invalidJSON, .invalidRecord, .schemaMismatch, .invalidName, .invalidArgument: EINVAL
        case .refusedRename: EPROTO
        case .tooLarge: EFBIG
        case .nameTooLong: ENAMETOOLONG
        case .notFound: ENOENT
        case .alreadyExists: EEXIST
        case .notEmpty: ENOTEMPTY
        case .isDirectory: EISDIR
        case .notDirectory: ENOTDIR
        case .crossDevice: EXDEV
        case .notPermitted: EPERM
        case .accessDenied: EACCES
        case .readOnly: EROFS
        case .unsupported: EOPNOTSUPP
        case .noSuchAttribute: ENODATA
        case .stale: ESTALE
        case .noSpace: ENOSPC
        case .system: systemErrno
        default: EIO
        }
    }
}
