import Glibc
import RecordModel

/// Where things are by the XDG base directories.
enum Places {
    /// HOME, which boot scripts may not have, else what the user database says.
    static var home: String {
        if let home = environment("HOME") { return home }
        guard let user = getpwuid(geteuid()), let home = user.pointee.pw_dir else { return "/" }
        return String(cString: home)
    }

    /// The state directory that holds the store: RECORDFS_STATE, else recordfs in XDG_DATA_HOME.
    static var state: String {
        environment("RECORDFS_STATE").map(absolute) ?? defaultState
    }

    /// The state directory when nothing says otherwise.
    static var defaultState: String { "\(data)/recordfs" }

    /// Whether the environment says which store is meant.
    static var isStateNamed: Bool { environment("RECORDFS_STATE") != nil }

    static var configuration: String {
        "\(base("XDG_CONFIG_HOME", ".config"))/recordfs/config.json"
    }

    /// The directory of logs.
    static var logs: String { "\(base("XDG_STATE_HOME", ".local/state"))/recordfs" }

    /// The log of the daemon of a state directory; the default store's is recordfs.log.
    static func log(ofState directory: String) -> String {
        let folder = logs
        if directory == "\(data)/recordfs" { return "\(folder)/recordfs.log" }
        let hash = SHA256.hash(Array(directory.utf8)).hex.prefix(12)
        return "\(folder)/recordfs-\(hash).log"
    }

    static var defaultMountpoint: String { "\(home)/RecordFS" }

    /// A path that begins at the root; `.`, `..` and links are as they were.
    static func unresolved(_ path: String) -> String {
        if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
        return path.hasPrefix("/") ? path : "\(workingDirectory ?? "/")/\(path)"
    }

    /// A path that stays the same when the working directory changes, without `.` and `..`.
    static func absolute(_ path: String) -> String {
        let full = unresolved(path)
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Where a file really is, behind symbolic links. Errors: `notFound`, `ioFailure`.
    static func resolved(_ path: String) throws(RecordError) -> String {
        guard let place = realpath(path, nil) else {
            throw RecordError(
                errno == ENOENT ? .notFound : .ioFailure, "\(String(cString: strerror(errno))).")
        }
        defer { free(place) }
        return String(cString: place)
    }

    /// False when it was removed, or when the mount that has it was detached.
    static var hasWorkingDirectory: Bool { workingDirectory != nil }

    private static var workingDirectory: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&buffer, buffer.count) != nil, buffer[0] == CChar(UInt8(ascii: "/")) else {
            return nil
        }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Makes a directory with its parents for this user alone. Errors: as mkdir.
    static func makeDirectory(_ path: String) throws(RecordError) {
        var partial = ""
        for part in path.split(separator: "/") {
            partial += "/\(part)"
            if mkdir(partial, 0o700) != 0, errno != EEXIST, errno != EROFS, errno != EACCES {
                throw RecordError(
                    .ioFailure, "cannot be made: \(String(cString: strerror(errno))).")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw RecordError(.notDirectory, "is not a directory and cannot be made one.")
        }
    }

    /// Errors: `ioFailure` when the directory cannot be read.
    static func isEmpty(_ path: String) throws(RecordError) -> Bool {
        guard let directory = opendir(path) else {
            throw RecordError(
                .ioFailure, "cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count <= 2
    }

    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    private static var data: String { base("XDG_DATA_HOME", ".local/share") }

    /// The specification says to ignore relative paths.
    private static func base(_ name: String, _ fallback: String) -> String {
        if let value = environment(name), value.hasPrefix("/") { return absolute(value) }
        return "\(home)/\(fallback)"
    }
}
