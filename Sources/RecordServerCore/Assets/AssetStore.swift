package import RecordModel
package import RecordWire

/// The place of the bytes of assets, each content under its SHA-256. Several processes may use one
/// store.
///
/// Callers know no more of it than this protocol, so that it may be a directory or a store of
/// objects. Bytes arrive one part after the other, are read by ranges, listed and removed, and
/// never change.
///
/// No upload loses its bytes to a removal of the same content, whatever the order of the two. An
/// upload places its bytes, then commits the row that knows them, then confirms. A removal begins,
/// then asks whether a row knows the content, then ends. A row that is committed before the
/// question stops the removal. For a row that is committed later, the confirmation comes after the
/// beginning of the removal, which removes nothing that was confirmed after it.
package protocol AssetStore: Sendable {
    /// Returns those of some contents that a committed row knows.
    typealias Knowledge = @Sendable ([ContentHash]) async throws(ServerError) -> Set<ContentHash>

    /// Begins an upload. Nothing of it stays unless it is placed.
    func begin() async throws(ServerError) -> any IncomingAsset

    /// Returns a content, or nil when it does not exist. A content that was found can be read to
    /// its end, whatever is removed.
    func find(_ hash: ContentHash) async throws(ServerError) -> (any StoredAsset)?

    /// Returns at most `limit` of the contents after this one, in the order of their hashes.
    func list(after hash: ContentHash?, limit: Int) async throws(ServerError) -> [ContentHash]

    /// Removes those of `hashes` that are not known when the store asks for them.
    func remove(_ hashes: [ContentHash], unless known: @escaping Knowledge)
        async throws(ServerError)

    /// Ends removals that were interrupted, in this process or another.
    func endRemovals(unless known: @escaping Knowledge) async throws(ServerError)

    /// Removes the remains of uploads that a crash interrupted. Uploads in progress are not
    /// touched.
    func removeLeftovers() async throws(ServerError)

    /// Takes over a content of another store. Returns false when that store does not have it. The
    /// content is on stable storage after `sync`.
    func bring(_ hash: ContentHash, from other: any AssetStore) async throws(ServerError) -> Bool

    func sync() async throws(ServerError)
}

/// The bytes of an upload so far. The caller makes one call after the other, never two at once.
package protocol IncomingAsset: AnyObject, Sendable {
    /// Appends bytes.
    ///
    /// - Throws: tryAgainLater when there is no space.
    func append(_ bytes: [UInt8]) async throws(ServerError)

    /// Puts the bytes under their hash, on stable storage, and can do so again until `confirm`.
    func place() async throws(ServerError) -> (hash: ContentHash, size: Int64)

    /// Confirms the content. Call it once a committed row knows the content. From then on no
    /// removal takes the content, and a content that was removed before is put back.
    func confirm(_ hash: ContentHash) async throws(ServerError)
}

/// Bytes of a store, open for reading.
package protocol StoredAsset: AnyObject, Sendable {
    /// The size in bytes.
    var size: Int64 { get }
    /// Returns at most `count` bytes from `offset`. Only at the end there are fewer.
    func read(at offset: Int64, count: Int) async throws(ServerError) -> [UInt8]
}

extension AssetStore {
    /// Opens a content that must exist.
    ///
    /// - Throws: internalError when it does not exist, because a row of the storage promised it.
    package func open(_ hash: ContentHash) async throws(ServerError) -> any StoredAsset {
        guard let asset = try await find(hash) else {
            throw ServerError(.internalError, "The bytes of this asset are missing on the server.")
        }
        return asset
    }

    package func bring(
        _ hash: ContentHash, from other: any AssetStore
    ) async throws(ServerError) -> Bool {
        if try await find(hash) != nil { return true }
        return try await copy(hash, from: other)
    }

    package func sync() async throws(ServerError) {}

    /// Copies the bytes of a content, and checks them meanwhile.
    func copy(_ hash: ContentHash, from other: any AssetStore) async throws(ServerError) -> Bool {
        guard let source = try await other.find(hash) else { return false }
        let copy = try await begin()
        var offset: Int64 = 0
        while offset < source.size {
            let bytes = try await source.read(at: offset, count: 1 << 18)
            guard !bytes.isEmpty else { break }
            try await copy.append(bytes)
            offset += Int64(bytes.count)
        }
        let placed = try await copy.place()
        guard placed.hash == hash else {
            throw ServerError(.internalError, "The bytes of the asset \(hash) are not its own.")
        }
        return true
    }
}
