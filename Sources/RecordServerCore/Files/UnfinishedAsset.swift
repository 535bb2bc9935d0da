import Glibc
package import RecordModel
package import RecordWire
import Synchronization

/// The bytes of an upload so far, in a file of its own that vanishes unless it is placed.
package final class UnfinishedAsset: IncomingAsset {
    private struct State: Sendable {
        var descriptor: Int32
        var hash = SHA256()
        var size: Int64 = 0
    }

    private let directory: AssetDirectory
    private let temporaryPath: String
    private let state: Mutex<State>

    /// Makes the file, which is locked while the upload lives. A file in `tmp` without a lock is
    /// left over.
    init(in directory: AssetDirectory) throws(ServerError) {
        self.directory = directory
        temporaryPath = directory.path + "/tmp/" + SecureRandom.hex128()
        let descriptor = Glibc.open(
            temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        state = Mutex(State(descriptor: descriptor))
        guard descriptor >= 0 else { throw FileCalls.failure("make a file", errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw FileCalls.failure("lock a file", errno)
        }
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        guard descriptor >= 0 else { return }
        unlink(temporaryPath)
        Glibc.close(descriptor)
    }

    package func append(_ bytes: [UInt8]) async throws(ServerError) {
        try await FileThreads.run { () throws(ServerError) in try self.appendNow(bytes) }
    }

    private func appendNow(_ bytes: [UInt8]) throws(ServerError) {
        let code: Int32 = state.withLock { state in
            bytes.withUnsafeBytes { buffer in
                state.hash.update(buffer)
                var rest = buffer[...]
                while !rest.isEmpty {
                    let written = directory.calls.write(
                        state.descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if written < 0 && errno == EINTR { continue }
                    if written < 0 { return errno }
                    rest = rest.dropFirst(written)
                }
                state.size += Int64(bytes.count)
                return 0
            }
        }
        guard code == 0 else { throw FileCalls.failure("write an asset", code) }
    }

    /// Gives the bytes their final name, and keeps the unfinished one until `confirm`, because a
    /// sweeper may remove the final name before a row of the storage refers to it.
    package func place() async throws(ServerError) -> (hash: ContentHash, size: Int64) {
        try await FileThreads.run { () throws(ServerError) in try self.placeNow() }
    }

    func placeNow() throws(ServerError) -> (hash: ContentHash, size: Int64) {
        var (descriptor, hasher, size) = state.withLock { ($0.descriptor, $0.hash, $0.size) }
        guard fsync(descriptor) == 0 else { throw FileCalls.failure("sync an asset", errno) }
        let hash = ContentHash(digest: hasher.finalize())
        try link(hash)
        return (hash, size)
    }

    package func confirm(_ hash: ContentHash) async throws(ServerError) {
        try await FileThreads.run { () throws(ServerError) in try self.confirmNow(hash) }
    }

    func confirmNow(_ hash: ContentHash) throws(ServerError) {
        if !directory.hasFile(hash) { try link(hash) }
    }

    private func link(_ hash: ContentHash) throws(ServerError) {
        let folder = directory.folder(of: hash)
        if mkdir(folder, 0o700) == 0 {
            try AssetDirectory.sync(directory: directory.path)
        } else if errno != EEXIST {
            throw FileCalls.failure("make a directory", errno)
        }
        guard Glibc.link(temporaryPath, directory.path(of: hash)) == 0 || errno == EEXIST else {
            throw FileCalls.failure("place an asset", errno)
        }
        // Flush it even when the file was there, because the upload that placed it may not have
        // done so yet.
        try AssetDirectory.sync(directory: folder)
    }
}

extension AssetDirectory {
    /// Removes files without a lock. Uploads in progress have one.
    package func removeLeftovers() async throws(ServerError) {
        try await FileThreads.run { () throws(ServerError) in
            for name in try Self.names(in: path + "/tmp") {
                let file = path + "/tmp/" + name
                let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                guard descriptor >= 0 else { continue }
                defer { Glibc.close(descriptor) }
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(file) }
            }
        }
    }
}
