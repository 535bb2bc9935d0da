import Glibc
import Logging
import RecordModel
import RecordStore
import RecordWire
import Synchronization

/// Finds out which bytes an asset of the server has. recordfs-server sends the SHA-256. The
/// `fileChecksum` of another server is a name that says nothing about the bytes. For such a server
/// the store remembers which bytes had that name when they were sent or downloaded. Bytes with a
/// new name are downloaded before the record is shown, because everything on this machine knows an
/// asset by its SHA-256.
extension AssetExchange {
    /// Returns whether an asset of the server has these bytes.
    func isSame(_ asset: WireAsset, _ hash: ContentHash) throws(SyncProblem) -> Bool {
        exchange.settings.hasExtensions ? asset.isOf(hash) : try self.hash(of: asset) == hash
    }

    /// Returns the hash of an asset. Returns nil for an asset that this machine has never seen.
    func hash(of asset: WireAsset) throws(SyncProblem) -> ContentHash? {
        if exchange.settings.hasExtensions { return asset.sha256 }
        return try exchange.read { (store) throws(RecordError) in
            try store.assets.hash(ofAsset: asset.name)
        }
    }

    /// Notes the name that the server gives to bytes that were sent.
    func note(_ asset: WireAsset, _ hash: ContentHash) throws(SyncProblem) {
        guard !exchange.settings.hasExtensions else { return }
        try exchange.write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.assets.noteAsset(asset.name, hash)
        }
    }

    /// Downloads the assets of these records whose names are new on this machine.
    ///
    /// An asset that the server lists but does not deliver is left out, as if its bytes were never
    /// stored.
    func identifyAssets(of records: some Sequence<RecordAnswer>) async throws(SyncProblem) {
        guard !exchange.settings.hasExtensions else { return }
        for record in records {
            for asset in record.assets where try hash(of: asset) == nil {
                do throws(SyncProblem) {
                    try await fetch(asset)
                } catch {
                    guard case .refused(let refusal) = error, Reaction(refusal) != .retry else {
                        throw error
                    }
                    exchange.logger.warning(
                        "A large field cannot be had",
                        metadata: [
                            "record": exchange.database == .shared ? "" : "\(record.name)",
                            "why": "\(error.description(inLogOf: exchange.database))",
                        ])
                }
            }
        }
    }

    private func fetch(_ asset: WireAsset) async throws(SyncProblem) {
        let file = try incomingFile()
        if asset.size > 0 {
            guard let url = asset.address else {
                throw .unreadable("an asset without downloadURL.")
            }
            try await exchange.transport.download(url, from: 0, count: asset.size) {
                (bytes) throws(RecordError) in try file.append(bytes) < asset.size
            }
        }
        guard file.size == asset.size else {
            throw .unreachable("\(file.size) of \(asset.size) bytes of an asset came")
        }
        do throws(RecordError) {
            let (hash, _) = try exchange.store.assets.adoptAsset(file: file.path)
            try exchange.store.write(author: .sync) { (transaction) throws(RecordError) in
                try transaction.assets.noteAsset(asset.name, hash)
                try transaction.assets.setDownloaded(hash)
            }
        } catch {
            throw .store(error)
        }
    }

    private func incomingFile() throws(SyncProblem) -> IncomingFile {
        do throws(RecordError) {
            return try IncomingFile(path: exchange.store.assets.pathForUnfinishedAsset())
        } catch {
            throw .store(error)
        }
    }
}

/// Bytes as they arrive. Their file is removed at the end of this object, unless the store has
/// taken it.
private final class IncomingFile: Sendable {
    let path: String
    private let descriptor: Int32
    private let count = Mutex<Int64>(0)

    var size: Int64 { count.withLock(\.self) }

    /// Creates the file. Errors: those of creating a file.
    init(path: String) throws(RecordError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RecordError.systemCall("make \(path)", errno) }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    /// Adds bytes and returns the number of bytes after that. Errors: noSpace, and others of
    /// writing.
    func append(_ bytes: [UInt8]) throws(RecordError) -> Int64 {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else { throw RecordError.systemCall("write \(path)", errno) }
            done += written
        }
        return count.withLock { count in
            count += Int64(bytes.count)
            return count
        }
    }
}

extension WireAsset {
    /// The name that the server gives to the bytes.
    fileprivate var name: Text { Text("\(fileChecksum.string) \(size)") }

    /// The address for a download. The last part of the URL is a place for a file name that the
    /// client chooses.
    var address: String? { downloadURL?.string.replacing("${f}", with: "asset") }
}

extension RecordAnswer {
    /// The assets of all fields, also those in lists.
    var assets: [WireAsset] {
        fields.flatMap { field -> [WireAsset] in
            let values: [WireValue] =
                switch field.value {
                case .list(let elements)?: elements
                case let value?: [value]
                case nil: []
                }
            return values.compactMap { value in
                if case .asset(let asset) = value { asset } else { nil }
            }
        }
    }
}
