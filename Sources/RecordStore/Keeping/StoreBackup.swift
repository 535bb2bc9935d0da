import Glibc
package import RecordModel
import RecordSQL

/// A copy of a store in another directory, made while the store is used. It is a store itself: with
/// history, trash, drafts, local files and the sign-in.
///
/// A backup into the directory of an earlier one copies the large fields that are new, and removes
/// those that are gone. Until the new database takes the place of the old one, the earlier backup
/// stays whole: whatever interrupts a backup, there is one.
package struct StoreBackup {
    package struct Result: Sendable {
        /// The number of files of large fields in the backup, and of those that were copied now.
        package var files = 0
        package var copied = 0
        /// The bytes that were written now: the database and the copied files.
        package var bytes: Int64 = 0
        /// The faults of the backup. Empty for one that can be trusted.
        package var problems: [String] = []
    }

    private let store: RecordStore
    private let target: StoreDirectory

    /// The file that says that a directory is a backup, and of which store.
    private static let mark = "backup.json"
    /// The number of copies of the database, when a file that it names has gone meanwhile.
    private static let attempts = 5

    package init(of store: RecordStore, in directory: String) {
        self.store = store
        target = StoreDirectory(path: directory)
    }

    /// Makes the backup.
    ///
    /// - Parameter isDeep: whether every text and every large field is read again.
    /// - Throws: notEmpty where something else is, or a backup of another store; storeLocked while
    ///   a process uses the target as a store; noSpace, ioFailure.
    package func run(isDeep: Bool) throws(RecordError) -> Result {
        let device = try deviceNumber()
        try checkTarget(device)
        try target.create()
        let lock = try StoreLock.take(target.lock)
        defer { lock.release() }
        try writeMark(device)
        var result = Result()
        try copyAll(&result)
        try copyLocalFiles()
        result.problems = try check(isDeep: isDeep)
        return result
    }

    /// Returns the number that the store has among those of all machines.
    private func deviceNumber() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.first("SELECT value FROM meta WHERE key = 'device'") { $0.int64(0) }
        } ?? 0
    }

    // MARK: Target

    private func checkTarget(_ device: Int64) throws(RecordError) {
        guard !target.isSame(as: store.places) else {
            throw RecordError(
                .invalidArgument, "\(target.path) is the store itself. Name another directory.")
        }
        guard StoreDirectory.exists(target.path), try !AssetFiles.names(in: target.path).isEmpty
        else { return }
        guard let known = try markedDevice() else {
            throw RecordError(
                .notEmpty,
                "\(target.path) has other files and is no backup. Name an empty directory, or one "
                    + "that is not there yet.")
        }
        guard known == device else {
            throw RecordError(
                .notEmpty, "\(target.path) has the backup of another store; name another directory."
            )
        }
    }

    private func markedDevice() throws(RecordError) -> Int64? {
        let path = "\(target.path)/\(Self.mark)"
        guard StoreDirectory.exists(path) else { return nil }
        return try JSONParser.parse(try LocalFile.read(path))["device"]?.int64
    }

    private func writeMark(_ device: Int64) throws(RecordError) {
        let mark = JSONValue.object([
            JSONMember(key: "device", value: .number(JSONNumber(device))),
            JSONMember(
                key: "time",
                value: JSONValue(
                    ISO8601.print(milliseconds: store.options.clock.now.milliseconds))),
            JSONMember(key: "version", value: JSONValue(ProgramVersion.number)),
        ])
        try LocalFile.write(mark.serialized() + [0x0A], to: "\(target.path)/\(Self.mark)")
    }

    // MARK: Database and large fields

    private func copyAll(_ result: inout Result) throws(RecordError) {
        let new = target.path + "/store.sqlite-new"
        for attempt in 1...Self.attempts {
            try copyDatabase(to: new)
            let wanted = try Self.files(of: new)
            // A file that is gone belonged to a version or record that was removed meanwhile.
            guard try copy(wanted, &result) || attempt == Self.attempts else { continue }
            result.files = wanted.count
            var information = stat()
            if stat(new, &information) == 0 { result.bytes += Int64(information.st_size) }
            try putInPlace(new)
            let needed = Set(wanted.map(\.hash))
            for hash in try AssetFiles(places: target).all() where !needed.contains(hash) {
                try AssetFiles(places: target).remove(hash)
            }
            return
        }
    }

    private func copyDatabase(to path: String) throws(RecordError) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try LocalFile.remove(path + suffix) }
        try LocalFile.make(path)
        var options = SQLOptions()
        options.script = "PRAGMA synchronous = FULL"
        let copy = try SQLQueue(path: path, options)
        defer { copy.close() }
        try store.reader.copy(to: copy)
    }

    private func putInPlace(_ new: String) throws(RecordError) {
        try LocalFile.sync(new)
        // The log of the earlier database would be taken for the new one's.
        for suffix in ["-wal", "-shm"] { try LocalFile.remove(target.database + suffix) }
        guard rename(new, target.database) == 0 else {
            throw RecordError.systemCall("rename \(new)", errno)
        }
        try StoreDirectory.sync(target.path)
    }

    private static func files(
        of database: String
    ) throws(RecordError) -> [(hash: ContentHash, size: Int64)] {
        let copy = try SQLQueue(path: database, ConnectionOptions.reader)
        defer { copy.close() }
        return try copy.use { connection throws(RecordError) in
            try connection.all(
                """
                SELECT hash, size FROM asset WHERE hash IS NOT NULL AND downloaded = 1
                UNION SELECT hash, size FROM kept_asset WHERE downloaded = 1
                """
            ) { (ContentHash(hex: $0.string(0)), $0.int64(1)) }
        }
    }

    /// Copies the files that the target lacks. Returns false when one of them is gone.
    private func copy(
        _ files: [(hash: ContentHash, size: Int64)], _ result: inout Result
    ) throws(RecordError) -> Bool {
        let there = AssetFiles(places: target)
        var isWhole = true
        for (hash, size) in files where !there.isSealed(hash, size: size) {
            let source = Glibc.open(store.assets.assetPath(hash), O_RDONLY | O_CLOEXEC)
            if source < 0, errno == ENOENT {
                isWhole = false
                continue
            }
            guard source >= 0 else {
                throw RecordError.systemCall("open \(store.assets.assetPath(hash))", errno)
            }
            defer { Glibc.close(source) }
            let temporary = "\(target.assetsInProgress)/backup"
            try LocalFile.remove(temporary)
            let (found, _) = try StoredAssets.copy(source, to: temporary)
            guard found == hash else {
                throw .damagedAsset("was changed", hash, in: store.places)
            }
            try there.place(temporary, as: hash)
            result.copied += 1
            result.bytes += size
        }
        return isWhole
    }

    // MARK: Other files

    private func copyLocalFiles() throws(RecordError) {
        let new = target.path + "/scratch-new"
        try LocalFile.removeTree(new)
        try LocalFile.copyTree(store.places.scratch, to: new)
        try LocalFile.removeTree(target.scratch)
        guard rename(new, target.scratch) == 0 else {
            throw RecordError.systemCall("rename \(new)", errno)
        }
        let account = store.places.path + "/account.json"
        if StoreDirectory.exists(account) {
            try LocalFile.write(
                try LocalFile.read(account), to: target.path + "/account.json")
        }
    }

    private func check(isDeep: Bool) throws(RecordError) -> [String] {
        let copy = try RecordStore.openForReading(
            directory: target.path, options: StoreOptions(clock: store.options.clock))
        let problems = try copy.upkeep.integrityCheck(deep: isDeep)
        try copy.close()
        return problems
    }
}

extension StoreDirectory {
    fileprivate func isSame(as other: StoreDirectory) -> Bool {
        var (here, there) = (stat(), stat())
        return stat(path, &here) == 0 && stat(other.path, &there) == 0
            && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }
}
