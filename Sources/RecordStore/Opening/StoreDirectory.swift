import Glibc
package import RecordModel

/// The places of a state directory: store.sqlite, lock, reserve, assets/, scratch/.
package struct StoreDirectory: Sendable {
    let path: String

    var database: String { path + "/store.sqlite" }
    /// The database for a connection that takes no lock and does not look at the log.
    var immutableDatabase: String { uri("immutable=1") }
    /// The database for a connection that only reads.
    var readOnlyDatabase: String { uri("mode=ro") }

    private func uri(_ option: String) -> String {
        let escaped = database.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "%"): "%25"
            case UInt8(ascii: "?"): "%3f"
            case UInt8(ascii: "#"): "%23"
            default: ""
            }
        }
        var bytes: [UInt8] = []
        for (byte, escape) in zip(database.utf8, escaped) {
            bytes += escape.isEmpty ? [byte] : Array(escape.utf8)
        }
        return "file:\(String(decoding: bytes, as: UTF8.self))?\(option)"
    }
    var writeAheadLog: String { path + "/store.sqlite-wal" }
    var lock: String { path + "/lock" }
    var reserve: String { path + "/reserve" }
    var assets: String { path + "/assets" }
    var assetsInProgress: String { path + "/assets/tmp" }
    var scratch: String { path + "/scratch" }
    /// The directory of the tables that questions in SQL read.
    var mirrorDirectory: String { path + "/mirror" }

    /// The directory in which the tree keeps the local files of a zone or type: `scratch/zN` and
    /// `scratch/tN`.
    package enum LocalFiles {
        case zone(ZoneID)
        case type(TypeID)

        var name: String {
            switch self {
            case .zone(let zone): "z\(zone.rawValue)"
            case .type(let type): "t\(type.rawValue)"
            }
        }
    }

    package func holdsScratch(of zone: ZoneID) throws(RecordError) -> Bool {
        try Self.holdsFiles("\(scratch)/\(LocalFiles.zone(zone).name)")
    }

    package func holdsScratch(of type: TypeID) throws(RecordError) -> Bool {
        try Self.holdsFiles("\(scratch)/\(LocalFiles.type(type).name)")
    }

    /// Makes the missing directories, for this user alone. Existing directories keep their mode:
    /// one may belong to somebody else and be named by mistake.
    func create() throws(RecordError) {
        try Self.makeParents(of: path)
        for directory in [path, assets, assetsInProgress, scratch] {
            if mkdir(directory, 0o700) != 0, errno != EEXIST {
                throw RecordError.systemCall("make the directory \(directory)", errno)
            }
        }
    }

    /// Makes an empty database for this user alone, which SQLite treats as a new one. SQLite itself
    /// would use the umask. It gives the files beside the database the database's mode.
    func createDatabase() throws(RecordError) {
        try LocalFile.make(database)
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

    /// Puts names that were added to or removed from a directory on stable storage.
    static func sync(_ directory: String) throws(RecordError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordError.systemCall("open \(directory)", errno) }
        let result = fsync(descriptor)
        let code = errno
        Glibc.close(descriptor)
        if result != 0 { throw RecordError.systemCall("sync \(directory)", code) }
    }

    /// Makes a file readable and writable by this user alone.
    static func protect(_ file: String) throws(RecordError) {
        var information = stat()
        if stat(file, &information) == 0, information.st_mode & 0o777 == 0o600 { return }
        if chmod(file, 0o600) != 0 { throw RecordError.systemCall("protect \(file)", errno) }
    }

    /// Indicates whether this process can change entries of the directory. It cannot on read-only
    /// media.
    var isWritable: Bool { access(path, W_OK) == 0 }

    /// Returns whether something with that name exists.
    static func exists(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0
    }
}

extension RecordError {
    /// Describes a failed system call on a file of the store; `purpose` completes "cannot ...".
    package static func systemCall(_ purpose: String, _ code: Int32) -> RecordError {
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
