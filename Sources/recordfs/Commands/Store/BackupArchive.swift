import Glibc
import RecordControl
import RecordModel
import RecordStore

/// A backup in one file, an archive of tar. It is made from a backup in a directory beside it, which
/// is checked first and removed at the end. After an interruption the next run continues with it.
struct BackupArchive {
    private let path: String
    private var directory: String { path + "-new" }
    private var unfinished: String { directory + "/archive.tar" }

    /// Returns nil for a path that does not end with `.tar`: it names a directory.
    init?(path: String) {
        guard path.hasSuffix(".tar") else { return nil }
        self.path = path
    }

    /// Makes the archive.
    ///
    /// - Throws: alreadyExists for a path that is taken; ioFailure; the errors of a backup.
    func make(of store: RecordStore, isDeep: Bool) throws(RecordError) -> StoreBackup.Result {
        guard access(path, F_OK) != 0 else {
            throw RecordError(
                .alreadyExists, "\(path) is there already. Remove it, or name another file.")
        }
        try LocalFile.remove(unfinished)
        let result = try StoreBackup(of: store, in: directory).run(isDeep: isDeep)
        guard result.problems.isEmpty else { return result }
        try LocalFile.make(unfinished)
        try pack()
        try LocalFile.sync(unfinished)
        guard rename(unfinished, path) == 0 else {
            throw RecordError.systemCall("rename \(unfinished)", errno)
        }
        try LocalFile.sync(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) + "/")
        try LocalFile.removeTree(directory)
        return result
    }

    private func pack() throws(RecordError) {
        setenv("RECORDFS_PACKED", directory, 1)
        defer { unsetenv("RECORDFS_PACKED") }
        let status = system(
            """
            exec tar --create --file "$RECORDFS_PACKED/archive.tar" --exclude ./archive.tar \\
                --directory "$RECORDFS_PACKED" .
            """)
        guard status == 0 else {
            throw RecordError(
                .ioFailure,
                "tar could not write \(unfinished). What it has said is above; \(directory) is a "
                    + "backup already.")
        }
    }
}
