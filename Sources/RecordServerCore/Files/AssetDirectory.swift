import Glibc
package import RecordModel
package import RecordWire

/// The bytes of assets in files of one directory, each under the SHA-256 of its content.
///
/// `ab/<sha256>` are finished files, `tmp/` holds unfinished uploads, and `doomed/` holds files
/// whose removal is being decided. Several server processes may share one directory.
package struct AssetDirectory: Sendable {
    package let path: String
    let calls: FileCalls

    /// Makes the directory when it is missing.
    package init(path: String) throws(RecordError) {
        try self.init(path: path, calls: .system)
    }

    init(path: String, calls: FileCalls) throws(RecordError) {
        self.path = path
        self.calls = calls
        for directory in [path, path + "/tmp", path + "/doomed"] {
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
                throw RecordError(
                    .ioFailure,
                    "The asset directory \(directory) cannot be made: \(FileCalls.text(errno)).")
            }
        }
    }

    package static func open(_ path: String) throws(ServerError) -> AssetDirectory {
        do throws(RecordError) {
            return try AssetDirectory(path: path)
        } catch {
            throw ServerError(.internalError, error.message)
        }
    }

    package func path(of hash: ContentHash) -> String { folder(of: hash) + "/" + hash.hex }

    func folder(of hash: ContentHash) -> String { path + "/" + String(hash.hex.prefix(2)) }

    func hasFile(_ hash: ContentHash) -> Bool { access(path(of: hash), F_OK) == 0 }

    /// Opens a finished file, which keeps its bytes whatever happens to its name.
    func findNow(_ hash: ContentHash) throws(ServerError) -> AssetFile? {
        if let file = try openFile(path(of: hash)) { return file }
        // A sweeper may be holding it while it asks the storage.
        for name in try doomedPaths(of: hash) + [path(of: hash)] {
            if let file = try openFile(name) { return file }
        }
        return nil
    }

    private func openFile(_ name: String) throws(ServerError) -> AssetFile? {
        let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 { return try AssetFile(descriptor: descriptor) }
        guard errno == ENOENT else { throw FileCalls.failure("open an asset", errno) }
        return nil
    }

    /// Returns the names in a directory except `.` and `..`.
    package static func names(in directory: String) throws(ServerError) -> [String] {
        guard let stream = opendir(directory) else {
            throw FileCalls.failure("list the asset directory", errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Flushes the names in a directory to stable storage.
    package static func sync(directory: String) throws(ServerError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileCalls.failure("open the asset directory", errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw FileCalls.failure("sync the asset directory", errno)
        }
    }
}

/// A finished file, open for reading.
package final class AssetFile: StoredAsset {
    private let descriptor: Int32
    package let size: Int64

    /// Takes over the descriptor.
    fileprivate init(descriptor: Int32) throws(ServerError) {
        self.descriptor = descriptor
        // Anything except a file, such as a FIFO, has no end to seek to.
        size = Int64(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { throw FileCalls.failure("measure an asset", errno) }
    }

    deinit { Glibc.close(descriptor) }

    package func read(at offset: Int64, count: Int) async throws(ServerError) -> [UInt8] {
        try await FileThreads.run { () throws(ServerError) in
            try self.readNow(at: offset, count: count)
        }
    }

    private func readNow(at offset: Int64, count: Int) throws(ServerError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            done = 0
            while done < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + done }, count - done,
                    off_t(offset) + off_t(done))
                if read < 0 && errno == EINTR { continue }
                if read < 0 { failure = errno }
                guard read > 0 else { return }
                done += read
            }
        }
        guard failure == 0 else { throw FileCalls.failure("read an asset", failure) }
        return bytes
    }
}
