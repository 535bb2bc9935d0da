import Glibc
import RecordModel
import RecordWire

/// A file out of its place, whose removal is being decided: `doomed/<sha256>.<random>`.
struct DoomedAsset: Hashable, Sendable {
    let hash: ContentHash
    let name: String
}

/// Removal in two steps, so that no upload of the same content loses its bytes, whatever the
/// order of the two and however many processes there are:
///
/// 1. `doom` moves the file out of its place, to a name of its own;
/// 2. then the storage is asked whether a row knows the content: if so `pardon`, else `destroy`.
///
/// An upload commits its row and looks only then whether the file is in place. A row that was
/// committed before step 2 is seen by it; one committed later finds the place empty, or filled by
/// its own link, and puts its own bytes there.
extension AssetDirectory {
    /// Nil when there was no file to doom.
    func doom(_ hash: ContentHash) throws(ServerError) -> DoomedAsset? {
        let doomed = DoomedAsset(hash: hash, name: hash.hex + "." + SecureRandom.hex128())
        if rename(path(of: hash), path(of: doomed)) == 0 { return doomed }
        guard errno == ENOENT else { throw FileCalls.failure("move an asset", errno) }
        return nil
    }

    func pardon(_ doomed: DoomedAsset) throws(ServerError) {
        guard
            link(path(of: doomed), path(of: doomed.hash)) == 0 || errno == EEXIST
                || errno == ENOENT
        else { throw FileCalls.failure("restore an asset", errno) }
        try Self.sync(directory: folder(of: doomed.hash))
        try destroy(doomed)
    }

    func destroy(_ doomed: DoomedAsset) throws(ServerError) {
        guard unlink(path(of: doomed)) == 0 || errno == ENOENT else {
            throw FileCalls.failure("remove an asset", errno)
        }
    }

    private func path(of doomed: DoomedAsset) -> String { path + "/doomed/" + doomed.name }

    /// Files between the two steps, left by a crash or in the hands of another process.
    func doomed() throws(ServerError) -> [DoomedAsset] {
        try Self.names(in: path + "/doomed").compactMap { name in
            Self.hash(name.prefix(64)).map { DoomedAsset(hash: $0, name: name) }
        }
    }

    /// Where a file that is not in its place may be found for the moment.
    func doomedPaths(of hash: ContentHash) throws(ServerError) -> [String] {
        try doomed().filter { $0.hash == hash }.map(path(of:))
    }

    /// The folders of finished files, `00` to `ff`.
    func folders() throws(ServerError) -> [String] {
        try Self.names(in: path).filter { $0.utf8.count == 2 }.sorted()
    }

    func files(inFolder folder: String) throws(ServerError) -> [ContentHash] {
        try Self.names(in: path + "/" + folder).filter { $0.hasPrefix(folder) }
            .compactMap { Self.hash($0[...]) }
    }

    private static func hash(_ name: Substring) -> ContentHash? {
        let isHash =
            name.utf8.count == 64
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isHash ? ContentHash(hex: String(name)) : nil
    }
}
