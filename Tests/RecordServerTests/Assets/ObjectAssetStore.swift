import RecordModel
import RecordServerCore
import RecordWire
import Synchronization

/// A store of objects with versions in memory, with no more than such services can do: an object is
/// put whole, copied on the other side, read by ranges, listed, and deleted by its version. Nothing
/// is renamed or linked.
final class ObjectAssetStore: AssetStore {
    private struct Object {
        let version: Int
        let bytes: [UInt8]
    }

    private struct State {
        var objects: [String: Object] = [:]
        var versions = 0

        mutating func put(_ key: String, _ bytes: [UInt8]) {
            versions += 1
            objects[key] = Object(version: versions, bytes: bytes)
        }
    }

    private let state = Mutex(State())

    /// Under its hash, or the name of an upload.
    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

    func begin() -> any IncomingAsset { ObjectUpload(self) }

    func find(_ hash: ContentHash) -> (any StoredAsset)? {
        state.withLock { $0.objects[hash.hex] }.map { FoundObject($0.bytes) }
    }

    func list(after hash: ContentHash?, limit: Int) -> [ContentHash] {
        let finished = keys.filter { $0.utf8.count == 64 && $0 > hash?.hex ?? "" }
        return finished.prefix(limit).map { ContentHash(hex: $0) }
    }

    func remove(
        _ hashes: [ContentHash], unless known: @escaping Knowledge
    ) async throws(ServerError) {
        let versions = state.withLock { state in
            hashes.map { state.objects[$0.hex]?.version }
        }
        let keep = try await known(hashes)
        state.withLock { state in
            for (hash, version) in zip(hashes, versions) where !keep.contains(hash) {
                if state.objects[hash.hex]?.version == version { state.objects[hash.hex] = nil }
            }
        }
    }

    func endRemovals(unless known: @escaping Knowledge) {}

    func removeLeftovers() {}

    fileprivate func put(_ key: String, _ bytes: [UInt8]) {
        state.withLock { $0.put(key, bytes) }
    }

    /// Gives the version that it makes a new number.
    fileprivate func copy(_ key: String, to target: String) {
        state.withLock { state in
            if let object = state.objects[key] { state.put(target, object.bytes) }
        }
    }

    fileprivate func delete(_ key: String) { state.withLock { $0.objects[key] = nil } }
}

/// The bytes wait under a name of their own until a row knows the content.
private final class ObjectUpload: IncomingAsset {
    private let store: ObjectAssetStore
    private let key = "upload-" + SecureRandom.hex128()
    private let bytes = Mutex<[UInt8]>([])

    init(_ store: ObjectAssetStore) { self.store = store }

    deinit { store.delete(key) }

    func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }

    func place() -> (hash: ContentHash, size: Int64) {
        let bytes = bytes.withLock { $0 }
        let hash = SHA256.hash(bytes)
        store.put(key, bytes)
        store.copy(key, to: hash.hex)
        return (hash, Int64(bytes.count))
    }

    func confirm(_ hash: ContentHash) {
        store.copy(key, to: hash.hex)
        store.delete(key)
    }
}

private final class FoundObject: StoredAsset {
    private let bytes: [UInt8]
    var size: Int64 { Int64(bytes.count) }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(at offset: Int64, count: Int) -> [UInt8] {
        Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
}
