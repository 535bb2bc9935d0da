import Glibc
import RecordModel

/// A file with all its bytes that waits for its name, so that nobody sees a part of it.
struct StagedFile {
    private let name: HostName

    /// Writes bytes into a new file with the given modification time.
    init(
        in storage: ScratchStorage, _ bytes: [UInt8], modified: Timestamp
    ) throws(RecordError) {
        try self.init(in: storage, modified: modified) { file throws(RecordError) in
            try file.writeAll(bytes)
        }
    }

    /// Copies a file of any size.
    init(
        in storage: ScratchStorage, copyOf source: HostFile, modified: Timestamp
    ) throws(RecordError) {
        try self.init(in: storage, modified: modified) { file throws(RecordError) in
            try file.copy(from: source, count: Int64(try source.status.st_size))
        }
    }

    private init(
        in storage: ScratchStorage, modified: Timestamp,
        _ fill: (HostFile) throws(RecordError) -> Void
    ) throws(RecordError) {
        let random = ".new-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        name = try storage.name(ScratchRoute(path: Array(random.utf8)))
        try removingOnFailure { () throws(RecordError) in
            let file = try name.open(O_RDWR | O_CREAT | O_EXCL)
            try fill(file)
            // The mode that records show. The daemon's own umask would hide the file from readers.
            try HostName(file).setMode(0o644)
            try file.setTimes(accessed: nil, modified: modified)
        }
    }

    /// Gives the file its name, in place of another file.
    func place(at target: HostName) throws(RecordError) {
        try removingOnFailure { () throws(RecordError) in try name.rename(to: target, flags: 0) }
    }

    /// Gives the file its name and runs `commit`. If that fails, the name has its former file again,
    /// or none.
    func place<T>(
        at target: HostName, _ commit: () throws(RecordError) -> T
    ) throws(RecordError) -> T {
        let replaces = try removingOnFailure { () throws(RecordError) in
            try exchange(with: target)
        }
        do throws(RecordError) {
            let result = try commit()
            if replaces { remove() }
            return result
        } catch {
            // A former file that cannot have its name back stays under the temporary one.
            try target.rename(to: name, flags: replaces ? renameExchange : renameNoReplace)
            remove()
            throw error
        }
    }

    private func removingOnFailure<T>(
        _ body: () throws(RecordError) -> T
    ) throws(RecordError) -> T {
        do throws(RecordError) {
            return try body()
        } catch {
            remove()
            throw error
        }
    }

    /// Exchanges the file with the one that has the name. Returns false when none has.
    private func exchange(with target: HostName) throws(RecordError) -> Bool {
        guard let status = try target.status() else {
            try name.rename(to: target, flags: renameNoReplace)
            return false
        }
        guard !status.isDirectory else {
            throw RecordError(.isDirectory, "the new name is a directory")
        }
        try name.rename(to: target, flags: renameExchange)
        return true
    }

    /// Removes what has the temporary name, if anything has it.
    private func remove() {
        _ = withPath(name.path) { unlinkat(name.base.descriptor, $0, 0) }
    }
}
