import FoundationEssentials
import Glibc
import RecordModel

/// Reads, writes and copies small files and directories of the disk.
enum LocalFile {
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
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw RecordError.systemCall("make \(new)", errno) }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(file, buffer.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw RecordError.systemCall("write \(new)", errno) }
            done += count
        }
        guard fsync(file) == 0 else { throw RecordError.systemCall("sync \(new)", errno) }
        guard rename(new, path) == 0 else { throw RecordError.systemCall("rename \(new)", errno) }
    }

    static func sync(_ path: String) throws(RecordError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw RecordError.systemCall("sync \(path)", errno) }
    }

    static func removeTree(_ path: String) throws(RecordError) {
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
