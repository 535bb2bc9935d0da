import Glibc
package import RecordModel
package import RecordWire

extension AssetDirectory: AssetStore {
    package func begin() async throws(ServerError) -> any IncomingAsset {
        try await FileThreads.run { () throws(ServerError) in try UnfinishedAsset(in: self) }
    }

    package func find(_ hash: ContentHash) async throws(ServerError) -> (any StoredAsset)? {
        try await FileThreads.run { () throws(ServerError) in try findNow(hash) }
    }

    package func list(
        after hash: ContentHash?, limit: Int
    ) async throws(ServerError) -> [ContentHash] {
        try await FileThreads.run { () throws(ServerError) in
            try listNow(after: hash?.hex ?? "", limit: limit)
        }
    }

    private func listNow(after last: String, limit: Int) throws(ServerError) -> [ContentHash] {
        var found: [ContentHash] = []
        for folder in try folders() where folder >= last.prefix(2) && found.count < limit {
            let files = try files(inFolder: folder).filter { $0.hex > last }
            found += files.sorted { $0.hex < $1.hex }.prefix(limit - found.count)
        }
        return found
    }

    package func remove(
        _ hashes: [ContentHash], unless known: @escaping Knowledge
    ) async throws(ServerError) {
        guard !hashes.isEmpty else { return }
        // This first look keeps files that are in use in their places.
        let unknown = try await Self.unknown(hashes, known)
        let doomed = try await FileThreads.run { () throws(ServerError) in
            var doomed: [DoomedAsset] = []
            for hash in unknown {
                if let asset = try doom(hash) { doomed.append(asset) }
            }
            return doomed
        }
        try await remove(doomed, unless: known)
    }

    package func endRemovals(unless known: @escaping Knowledge) async throws(ServerError) {
        let doomed = try await FileThreads.run { () throws(ServerError) in try self.doomed() }
        try await remove(doomed, unless: known)
    }

    private func remove(
        _ doomed: [DoomedAsset], unless known: Knowledge
    ) async throws(ServerError) {
        guard !doomed.isEmpty else { return }
        let unknown = Set(try await Self.unknown(doomed.map(\.hash), known))
        try await FileThreads.run { () throws(ServerError) in
            for asset in doomed {
                if unknown.contains(asset.hash) {
                    try destroy(asset)
                } else {
                    try pardon(asset)
                }
            }
        }
    }

    private static func unknown(
        _ hashes: [ContentHash], _ known: Knowledge
    ) async throws(ServerError) -> [ContentHash] {
        let known = try await known(hashes)
        return hashes.filter { !known.contains($0) }
    }

    /// Brings a content. From another directory of this machine, a second name is as good as a
    /// copy.
    package func bring(
        _ hash: ContentHash, from other: any AssetStore
    ) async throws(ServerError) -> Bool {
        if let directory = other as? AssetDirectory {
            let isThere = try await FileThreads.run { () throws(ServerError) in
                try link(hash, from: directory)
            }
            if isThere { return true }
        } else if try await find(hash) != nil {
            return true
        }
        return try await copy(hash, from: other)
    }

    /// Links the file. Returns false when there is no such file, or it is on another file system.
    private func link(_ hash: ContentHash, from other: AssetDirectory) throws(ServerError) -> Bool {
        if hasFile(hash) { return true }
        guard mkdir(folder(of: hash), 0o700) == 0 || errno == EEXIST else {
            throw FileCalls.failure("make a directory", errno)
        }
        // A sweeper may be holding the file while it asks the storage.
        for name in [other.path(of: hash)] + (try other.doomedPaths(of: hash)) {
            if Glibc.link(name, path(of: hash)) == 0 || errno == EEXIST { return true }
        }
        return false
    }

    package func sync() async throws(ServerError) {
        try await FileThreads.run { () throws(ServerError) in
            for folder in try folders() { try Self.sync(directory: path + "/" + folder) }
            try Self.sync(directory: path)
        }
    }
}
