import Glibc
import RecordControl
import RecordModel

/// The places of files by the XDG base directories.
enum HostPaths {
    /// HOME. Boot scripts may not have it, and then it is taken from the user database.
    static var home: String {
        if let home = environmentVariable("HOME") { return home }
        guard let user = getpwuid(geteuid()), let home = user.pointee.pw_dir else { return "/" }
        return String(cString: home)
    }

    /// The state directory that holds the store: RECORDFS_STATE, or recordfs in XDG_DATA_HOME.
    static var state: String {
        environmentVariable("RECORDFS_STATE").map(absolute) ?? defaultState
    }

    /// The state directory when no option or variable names one.
    static var defaultState: String { "\(data)/recordfs" }

    /// Indicates whether the environment names the store.
    static var isStateNamed: Bool { environmentVariable("RECORDFS_STATE") != nil }

    static var configuration: String {
        "\(base("XDG_CONFIG_HOME", ".config"))/recordfs/config.json"
    }

    /// The directory of logs.
    static var logs: String { "\(base("XDG_STATE_HOME", ".local/state"))/recordfs" }

    /// The file in which the daemons record the refused saves.
    static var refusalLog: String { "\(logs)/refused" }

    /// Returns the log of the daemon of a state directory. The default store's is recordfs.log.
    static func log(ofState directory: String) -> String {
        let folder = logs
        if directory == "\(data)/recordfs" { return "\(folder)/recordfs.log" }
        let hash = SHA256.hash(Array(directory.utf8)).hex.prefix(12)
        return "\(folder)/recordfs-\(hash).log"
    }

    static var defaultMountpoint: String { "\(home)/RecordFS" }

    /// Returns a path that begins at the root. `.`, `..` and links are unchanged.
    static func unresolved(_ path: String) -> String {
        if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
        return path.hasPrefix("/") ? path : "\(workingDirectory ?? "/")/\(path)"
    }

    /// Returns a path that stays the same when the working directory changes, without `.` and `..`.
    static func absolute(_ path: String) -> String {
        let full = unresolved(path)
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the real place of a file, with symbolic links resolved. Errors: `notFound`,
    /// `ioFailure`.
    static func resolved(_ path: String) throws(RecordError) -> String {
        guard let place = realpath(path, nil) else {
            throw RecordError(
                errno == ENOENT ? .notFound : .ioFailure, "\(String(cString: strerror(errno))).")
        }
        defer { free(place) }
        return String(cString: place)
    }

    /// Indicates whether there is a working directory. It is false when the directory was removed,
    /// or when its mount was detached.
    static var hasWorkingDirectory: Bool { workingDirectory != nil }

    private static var workingDirectory: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&buffer, buffer.count) != nil, buffer[0] == CChar(UInt8(ascii: "/")) else {
            return nil
        }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static var data: String { base("XDG_DATA_HOME", ".local/share") }

    /// Returns a base directory. The specification requires that relative paths are ignored.
    private static func base(_ name: String, _ fallback: String) -> String {
        if let value = environmentVariable(name), value.hasPrefix("/") { return absolute(value) }
        return "\(home)/\(fallback)"
    }
}
