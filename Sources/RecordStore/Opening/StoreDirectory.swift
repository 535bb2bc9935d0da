import Glibc
import RecordModel

/// The places of a state directory: store.sqlite, lock, assets/, scratch/.
struct StoreDirectory: Sendable {
    let path: String

    var database: String { path + "/store.sqlite" }
    var writeAheadLog: String { path + "/store.sqlite-wal" }
    var lock: String { path + "/lock" }
    var assets: String { path + "/assets" }
    var assetsInProgress: String { path + "/assets/tmp" }
    var scratch: String { path + "/scratch" }

    /// Makes what is missing, for this user alone.
    func create() throws(RecordError) {
        try Self.makeParents(of: path)
        for directory in [path, assets, assetsInProgress, scratch] {
            if mkdir(directory, 0o700) != 0, errno != EEXIST {
                throw RecordError.systemCall("make the directory \(directory)", errno)
            }
        }
        if chmod(path, 0o700) != 0 {
            throw RecordError.systemCall("protect the directory \(path)", errno)
        }
    }

    private static func makeParents(of path: String) throws(RecordError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
        var parent = path.hasPrefix("/") ? "" : "."
        for part in parts {
            parent += "/" + part
            if mkdir(parent, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS {
                throw RecordError.systemCall("make the directory \(parent)", errno)
            }
        }
    }

    /// Puts names that came or went in a directory on stable storage.
    static func sync(_ directory: String) throws(RecordError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordError.systemCall("open \(directory)", errno) }
        let result = fsync(descriptor)
        let code = errno
        Glibc.close(descriptor)
        if result != 0 { throw RecordError.systemCall("sync \(directory)", code) }
    }

    /// Readable and writable by this user alone.
    static func protect(_ file: String) throws(RecordError) {
        if chmod(file, 0o600) != 0 { throw RecordError.systemCall("protect \(file)", errno) }
    }

    /// Whether something of that name is there.
    static func exists(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0
    }
}

extension RecordError {
    /// A failed system call on a file of the store; `purpose` completes "cannot ...".
    static func systemCall(_ purpose: String, _ code: Int32) -> RecordError {
        let reason = String(cString: strerror(code))
        let message = "Cannot \(purpose): \(reason)."
        switch code {
        case ENOSPC, EDQUOT: return RecordError(.noSpace, message, errno: code)
        case EMFILE, ENFILE: return RecordError(.tooManyOpenFiles, message, errno: code)
        case EACCES, EPERM: return RecordError(.accessDenied, message, errno: code)
        case EROFS: return RecordError(.readOnly, message, errno: code)
        case ENOENT: return RecordError(.notFound, message, errno: code)
        default: return RecordError(.ioFailure, message, errno: code)
        }
    }
}
