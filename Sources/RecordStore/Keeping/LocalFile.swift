import FoundationEssentials
import Glibc
package import RecordModel

/// Makes, reads, writes, copies and removes files and directories of the disk.
package enum LocalFile {
    /// Makes an empty file for this user alone, whatever the umask. Returns false when something has
    /// the name already.
    @discardableResult
    package static func make(_ path: String) throws(RecordError) -> Bool {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file < 0, errno == EEXIST { return false }
        guard file >= 0 else { throw RecordError.systemCall("make \(path)", errno) }
        close(file)
        return true
    }

    /// Removes a file, if it is there.
    package static func remove(_ path: String) throws(RecordError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw RecordError.systemCall("remove \(path)", errno)
        }
    }

    static func read(_ path: String) throws(RecordError) -> [UInt8] {
        do {
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw failure("read \(path)", error)
        }
    }

    /// Writes a file that only this user can read, whole or not at all.
    static func write(_ bytes: [UInt8], to path: String) throws(RecordError) {
        let new = path + "-new"
        try remove(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw RecordError.systemCall("make \(new)", errno) }
        defer { close(file) }
        try StoredAssets.append(bytes, bytes.count, to: file, new)
        guard fsync(file) == 0 else { throw RecordError.systemCall("sync \(new)", errno) }
        guard rename(new, path) == 0 else { throw RecordError.systemCall("rename \(new)", errno) }
    }

    /// Waits until what was written to a file or directory is on the disk.
    package static func sync(_ path: String) throws(RecordError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw RecordError.systemCall("sync \(path)", errno) }
    }

    /// Removes a directory with all that is in it, if it is there.
    package static func removeTree(_ path: String) throws(RecordError) {
        guard access(path, F_OK) == 0 else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw failure("remove \(path)", error)
        }
    }

    /// Copies the directories, files and links of a directory. Sockets and pipes belong to a process
    /// and stay behind, as does what is removed meanwhile.
    static func copyTree(_ source: String, to target: String) throws(RecordError) {
        guard mkdir(target, 0o700) == 0 else {
            throw RecordError.systemCall("make the directory \(target)", errno)
        }
        for name in try AssetFiles.names(in: source) {
            let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
            var information = stat()
            guard lstat(from, &information) == 0 else { continue }
            switch information.st_mode & S_IFMT {
            case S_IFDIR: try copyTree(from, to: to)
            case S_IFREG, S_IFLNK:
                do {
                    try FileManager.default.copyItem(atPath: from, toPath: to)
                } catch {
                    guard access(from, F_OK) != 0 else { throw failure("copy \(from)", error) }
                }
            default: continue
            }
        }
    }

    private static func failure(_ what: String, _ error: any Error) -> RecordError {
        if let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code {
            return RecordError.systemCall(what, code.rawValue)
        }
        return RecordError(.ioFailure, "cannot \(what): \(error)")
    }
}
