import Glibc
package import RecordModel

/// Directories of this machine.
package enum HostDirectory {
    /// Returns the directory of an absolute path.
    package static func parent(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }

    /// Makes a directory with its parents, for this user alone. Errors: as mkdir.
    package static func make(_ path: String) throws(RecordError) {
        var partial = ""
        // A parent may refuse a directory that is there already.
        var refusal: Int32?
        for part in path.split(separator: "/") {
            partial += "/\(part)"
            guard mkdir(partial, 0o700) != 0, errno != EEXIST else { continue }
            refusal = errno
            if errno != EROFS, errno != EACCES { break }
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = String(cString: strerror(refusal ?? errno))
            throw RecordError(.ioFailure, "cannot be made: \(reason).")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw RecordError(.notDirectory, "is not a directory.")
        }
    }

    /// Returns the names in a directory in the order of their bytes, without `.` and `..`.
    ///
    /// Errors: `notFound`, `notDirectory`, `accessDenied`, `ioFailure`.
    static func names(in path: String) throws(RecordError) -> [[UInt8]] {
        guard let stream = opendir(path) else { throw FileReading.failure(path, errno) }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 })
                })
        }
        let itself = [Array(".".utf8), Array("..".utf8)]
        return names.filter { !itself.contains($0) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns whether the directory is empty.
    ///
    /// Errors: `ioFailure` when the directory cannot be read.
    package static func isEmpty(_ path: String) throws(RecordError) -> Bool {
        guard let directory = opendir(path) else {
            throw RecordError(
                .ioFailure, "cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count <= 2
    }

    /// Returns whether two spellings mean one directory.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        var first = stat()
        var second = stat()
        guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
