import Glibc
import RecordModel
import RecordWire

/// The files of a data directory, which are those of a backup: a database and its assets.
struct BackupFiles: Sendable {
    let path: String

    var database: String { DataDirectory(path).databasePath }
    /// What the database is called until everything is in its place.
    var unfinishedDatabase: String { database + ".part" }
    var assets: String { path + "/assets" }

    /// Makes the directory, or takes one that is empty.
    func create() throws(ServerError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw ServerError(.badRequest, "\(path) is no directory; name an empty or new one.")
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Self.failure("make", path, errno)
        }
        guard try AssetDirectory.names(in: path).isEmpty else {
            throw ServerError(.badRequest, "\(path) is not empty; name an empty or new directory.")
        }
    }

    /// Gives the database its name: from then on the directory is complete.
    func finish() throws(ServerError) {
        for folder in try AssetDirectory.names(in: assets) {
            try AssetDirectory.sync(directory: assets + "/" + folder)
        }
        try AssetDirectory.sync(directory: assets)
        guard rename(unfinishedDatabase, database) == 0 else {
            throw Self.failure("rename", unfinishedDatabase, errno)
        }
        try AssetDirectory.sync(directory: path)
    }

    static func failure(_ verb: String, _ path: String, _ code: Int32) -> ServerError {
        ServerError(
            code == ENOSPC ? .tryAgainLater : .internalError,
            "Cannot \(verb) \(path): \(String(cString: strerror(code))).")
    }
}

/// Brings assets from one asset directory into another. Their files never change, so that a second
/// name is as good as a copy.
struct AssetCopier {
    let source: AssetDirectory
    let target: AssetDirectory

    /// False when the source does not have it.
    func bring(_ hash: ContentHash) throws(ServerError) -> Bool {
        if target.hasFile(hash) { return true }
        guard mkdir(target.folder(of: hash), 0o700) == 0 || errno == EEXIST else {
            throw BackupFiles.failure("make", target.folder(of: hash), errno)
        }
        let name = target.path(of: hash)
        // A sweeper of the source may be holding the file while it asks the storage.
        for path in [source.path(of: hash)] + (try source.doomedPaths(of: hash)) {
            if link(path, name) == 0 || errno == EEXIST { return true }
            if errno == ENOENT { continue }
            if try copy(path, to: name) { return true }
        }
        return false
    }

    /// On another file system. False when there is no such file any more.
    private func copy(_ path: String, to name: String) throws(ServerError) -> Bool {
        let input = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if input < 0, errno == ENOENT { return false }
        guard input >= 0 else { throw BackupFiles.failure("open", path, errno) }
        defer { Glibc.close(input) }
        let output = Glibc.open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw BackupFiles.failure("make", name, errno) }
        defer { Glibc.close(output) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Glibc.read(input, &buffer, buffer.count)
            guard count >= 0 else { throw BackupFiles.failure("read", path, errno) }
            guard count > 0 else { break }
            var done = 0
            while done < count {
                let written = buffer[done..<count].withUnsafeBytes {
                    Glibc.write(output, $0.baseAddress, $0.count)
                }
                guard written > 0 else { throw BackupFiles.failure("write", name, errno) }
                done += written
            }
        }
        guard fsync(output) == 0 else { throw BackupFiles.failure("sync", name, errno) }
        return true
    }
}
