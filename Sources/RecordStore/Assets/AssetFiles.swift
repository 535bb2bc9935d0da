import Glibc
import RecordModel

/// The files of the asset folder: `ab/<sha256>`, and unfinished ones in `tmp/`.
struct AssetFiles: Sendable {
    let places: StoreDirectory

    func path(of hash: ContentHash) -> String { directory(of: hash) + "/" + hash.hex }

    private func directory(of hash: ContentHash) -> String {
        places.assets + "/" + String(hash.hex.prefix(2))
    }

    /// Returns the size of the stored file. Returns nil when there is none.
    func size(of hash: ContentHash) -> Int64? {
        var information = stat()
        guard lstat(path(of: hash), &information) == 0,
            information.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int64(information.st_size)
    }

    /// Gives the finished file its name, on stable storage, before any row refers to it.
    func place(_ temporary: String, as hash: ContentHash) throws(RecordError) {
        let directory = directory(of: hash)
        seal(temporary, hash)
        if mkdir(directory, 0o700) == 0 {
            try StoreDirectory.sync(places.assets)
        } else if errno != EEXIST {
            throw RecordError.systemCall("make the directory \(directory)", errno)
        }
        guard rename(temporary, path(of: hash)) == 0 else {
            throw RecordError.systemCall("rename \(temporary)", errno)
        }
        try StoreDirectory.sync(directory)
    }

    /// Puts the name of a placed file on stable storage.
    func sync(_ hash: ContentHash) throws(RecordError) {
        try StoreDirectory.sync(places.assets)
        try StoreDirectory.sync(directory(of: hash))
    }

    func remove(_ hash: ContentHash) throws(RecordError) {
        try LocalFile.remove(path(of: hash))
    }

    /// Returns the hashes of all stored files. Names that are no hashes are passed to `strangers`.
    func all(strangers: (String) -> Void = { _ in }) throws(RecordError) -> [ContentHash] {
        var hashes: [ContentHash] = []
        for folder in try Self.names(in: places.assets) where folder.utf8.count == 2 {
            for name in try Self.names(in: places.assets + "/" + folder) {
                if name.utf8.count == 64, name.hasPrefix(folder) {
                    hashes.append(ContentHash(hex: name))
                } else {
                    strangers("assets/\(folder)/\(name)")
                }
            }
        }
        return hashes
    }

    static func names(in directory: String) throws(RecordError) -> [String] {
        guard let stream = opendir(directory) else {
            throw RecordError.systemCall("list \(directory)", errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Hashes whose files an import has placed, with the number of these imports.
///
/// Collection must not remove a file between its import and the transaction that refers to it.
struct AssetsInFlight: Sendable {
    private var counts: [ContentHash: Int] = [:]

    mutating func add(_ hash: ContentHash) { counts[hash, default: 0] += 1 }

    /// Notes that a committed transaction refers to the file that one import placed.
    mutating func release(_ hash: ContentHash) {
        guard let count = counts[hash] else { return }
        counts[hash] = count > 1 ? count - 1 : nil
    }

    func contains(_ hash: ContentHash) -> Bool { counts[hash] != nil }
}
