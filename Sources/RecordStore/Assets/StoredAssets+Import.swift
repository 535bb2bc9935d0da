import Glibc
package import RecordModel
import RecordSQL
import Synchronization

extension StoredAssets {
    /// Copies a file's bytes into the store under their SHA-256, on stable storage, and returns
    /// hash and size. It can be repeated without harm. The file is safe from `collectAssets` until
    /// a transaction refers to it, or the store is opened again.
    ///
    /// - Throws: notFound, invalidArgument for anything but a regular file, noSpace, ioFailure.
    package func importAsset(
        fromFile path: String
    ) throws(RecordError) -> (hash: ContentHash, size: Int64) {
        guard store.isWritable else {
            throw RecordError(.readOnly, "The store was opened for reading only.")
        }
        // A FIFO must not block, and a link must not lead elsewhere.
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard source >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { Glibc.close(source) }
        var information = stat()
        guard fstat(source, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw RecordError(.invalidArgument, "\(path) is no regular file.")
        }
        return try importAsset(descriptor: source)
    }

    /// Does the same as `importAsset(fromFile:)` with an open descriptor, from offset 0. The
    /// descriptor's position stays.
    package func importAsset(
        descriptor source: Int32
    ) throws(RecordError) -> (hash: ContentHash, size: Int64) {
        let temporary = pathForUnfinishedAsset()
        let (hash, size) = try Self.copy(source, to: temporary)
        do {
            try place(temporary, as: hash, size: size)
        } catch {
            unlink(temporary)
            throw error
        }
        return (hash, size)
    }

    /// Does the same as `importAsset(fromFile:)` with a file in `assets/tmp` that nobody writes to
    /// any more: it becomes the stored file, without a copy, and loses its old name. After an error
    /// it is as it was.
    package func adoptAsset(
        file path: String
    ) throws(RecordError) -> (hash: ContentHash, size: Int64) {
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { Glibc.close(source) }
        let (hash, size) = try Self.hash(source) { (_, _) throws(RecordError) in }
        guard fsync(source) == 0 else { throw RecordError.systemCall("sync \(path)", errno) }
        try place(path, as: hash, size: size)
        return (hash, size)
    }

    /// Gives a finished file on stable storage its place in the store, or removes it when its bytes
    /// are already there.
    private func place(
        _ temporary: String, as hash: ContentHash, size: Int64
    ) throws(RecordError) {
        let files = AssetFiles(places: store.places)
        Failpoint.pass(.assetWritten)
        // From here on, collection leaves the file alone.
        store.assetsInFlight.withLock { $0.add(hash) }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.connection.noteLoose(hash)
        }
        if files.isSealed(hash, size: size) {
            // The process that placed it may have ended before its name was on stable storage.
            try files.sync(hash)
            unlink(temporary)
            return
        }
        try files.place(temporary, as: hash)
        Failpoint.pass(.assetMoved)
    }

    /// Copies a file into a new one, on stable storage. Returns the SHA-256 and the number of bytes.
    static func copy(
        _ source: Int32, to path: String
    ) throws(RecordError) -> (ContentHash, Int64) {
        let target = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else { throw RecordError.systemCall("make \(path)", errno) }
        var finished = false
        defer {
            Glibc.close(target)
            if !finished { unlink(path) }
        }
        let result = try hash(source) { (buffer, count) throws(RecordError) in
            try append(buffer, count, to: target, path)
        }
        guard fsync(target) == 0 else { throw RecordError.systemCall("sync \(path)", errno) }
        finished = true
        return result
    }

    /// Returns the SHA-256 of a file and its number of bytes; `each` receives the bytes piece by
    /// piece.
    private static func hash(
        _ source: Int32, _ each: ([UInt8], Int) throws(RecordError) -> Void
    ) throws(RecordError) -> (ContentHash, Int64) {
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 17)
        var offset = 0
        while true {
            let count = pread(source, &buffer, buffer.count, off_t(offset))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw RecordError.systemCall("read the asset", errno) }
            if count == 0 { break }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            try each(buffer, count)
            offset += count
        }
        return (ContentHash(digest: hash.finalize()), Int64(offset))
    }

    /// Writes the first bytes of a buffer to an open file.
    static func append(
        _ buffer: [UInt8], _ count: Int, to target: Int32, _ path: String
    ) throws(RecordError) {
        var done = 0
        while done < count {
            let written = buffer.withUnsafeBytes { bytes in
                Glibc.write(target, bytes.baseAddress.map { $0 + done }, count - done)
            }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else { throw RecordError.systemCall("write \(path)", errno) }
            done += written
        }
    }

    /// Returns the SHA-256 of a stored file's bytes. Returns nil when there is no such file.
    func hashOfFile(_ hash: ContentHash) throws(RecordError) -> ContentHash? {
        let path = assetPath(hash)
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if source < 0 && errno == ENOENT { return nil }
        guard source >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { Glibc.close(source) }
        return try Self.hash(source) { (_, _) throws(RecordError) in }.0
    }

    /// Removes the files of imports that a crash has interrupted.
    func removeUnfinishedAssets() throws(RecordError) {
        for name in try AssetFiles.names(in: store.places.assetsInProgress) {
            unlink(store.places.assetsInProgress + "/" + name)
        }
    }

    /// Removes the files that no record, version or trash entry marks as being here any more.
    /// Returns their number.
    ///
    /// It removes only files that this database has known. After the database was lost, or replaced
    /// by an older one or by that of another store, the other files may be all that is left of
    /// their records.
    ///
    /// Each file is checked on the writer's queue, where no transaction can come between the check
    /// and the removal, and stays when an import has just placed it.
    @discardableResult
    package func collectAssets() throws(RecordError) -> Int {
        let files = AssetFiles(places: store.places)
        var removed = 0
        for hash in try looseAssets() {
            let isUnused = try store.write(author: .mount, isFreeing: true) {
                transaction throws(RecordError) in
                guard !self.store.assetsInFlight.withLock({ $0.contains(hash) }) else {
                    return false
                }
                let isHeld = try transaction.connection.referredSize(hash) != nil
                if !isHeld { try files.remove(hash) }
                try transaction.connection.run(
                    "DELETE FROM loose_asset WHERE hash = ?", [.text(hash.hex)])
                return !isHeld
            }
            if isUnused {
                removed += 1
                Failpoint.pass(.assetCollected)
            }
        }
        return removed
    }
}

extension StoredAssets {
    private func looseAssets() throws(RecordError) -> [ContentHash] {
        try store.read { connection throws(RecordError) in
            try connection.all("SELECT hash FROM loose_asset") { ContentHash(hex: $0.string(0)) }
        }
    }

    /// Returns stored files that no row has ever named, as far as this database knows. An import
    /// makes its file known before the file exists, so these files belong to another database.
    package func unknownAssets() throws(RecordError) -> [ContentHash] {
        let hashes = try AssetFiles(places: store.places).all()
        return try store.read { connection throws(RecordError) in
            var unknown: [ContentHash] = []
            for hash in hashes {
                if try connection.isReferred(hash) { continue }
                if try !connection.isLoose(hash) { unknown.append(hash) }
            }
            return unknown
        }
    }
}

extension SQLConnection {
    /// Marks the file with that hash for the next collection.
    func noteLoose(_ hash: ContentHash) throws(RecordError) {
        try run("INSERT OR IGNORE INTO loose_asset VALUES (?)", [.text(hash.hex)])
    }

    fileprivate func isLoose(_ hash: ContentHash) throws(RecordError) -> Bool {
        try first("SELECT 1 FROM loose_asset WHERE hash = ?", [.text(hash.hex)]) { _ in true }
            ?? false
    }

    /// Returns the size that rows name for the file with that hash. Returns nil when no row names
    /// it.
    func referredSize(_ hash: ContentHash) throws(RecordError) -> Int64? {
        try first(
            """
            SELECT size FROM asset WHERE hash = ?1 AND downloaded = 1
            UNION ALL SELECT size FROM kept_asset WHERE hash = ?1 AND downloaded = 1 LIMIT 1
            """, [.text(hash.hex)]
        ) { $0.int64(0) }
    }

    /// Returns the size of bytes that are not here, as the server reports it. Returns nil when no
    /// row names them.
    func sizeElsewhere(_ hash: ContentHash) throws(RecordError) -> Int64? {
        try first(
            """
            SELECT size FROM asset WHERE hash = ?1 AND downloaded = 0
            UNION ALL SELECT size FROM kept_asset WHERE hash = ?1 AND downloaded = 0 LIMIT 1
            """, [.text(hash.hex)]
        ) { $0.int64(0) }
    }

    /// Stores in all rows with that hash whether its bytes are here.
    func setDownloaded(_ isDownloaded: Bool, _ hash: ContentHash) throws(RecordError) {
        for table in ["asset", "kept_asset"] {
            try run(
                "UPDATE \(table) SET downloaded = ?1 WHERE hash = ?2 AND downloaded != ?1",
                [.bool(isDownloaded), .text(hash.hex)])
        }
    }

    /// Returns whether any row names the file with that hash.
    func isReferred(_ hash: ContentHash) throws(RecordError) -> Bool {
        try exists(
            """
            SELECT 1 FROM asset WHERE hash = ?1
            UNION ALL SELECT 1 FROM kept_asset WHERE hash = ?1
            """, [.text(hash.hex)])
    }
}
