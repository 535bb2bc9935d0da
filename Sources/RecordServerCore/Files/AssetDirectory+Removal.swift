import Glibc
import RecordModel
import RecordWire

/// A file that was moved out of its place, while its removal is being decided:
/// `doomed/<sha256>.<random>`.
struct DoomedAsset: Hashable, Sendable {
    let hash: ContentHash
    let name: String
}

/// The removal of files. It has two steps, so that no upload of the same content loses its bytes,
/// whatever the order of the two and however many processes there are:
///
/// 1. `doom` moves the file out of its place, to a name of its own.
/// 2. Then the storage is asked whether a row knows the content: if so `pardon`, otherwise
///    `destroy`.
///
/// An upload commits its row, and only then looks whether the file is in place. Step 2 sees a row
/// that was committed before it. An upload whose row is committed later finds the place empty, or
/// filled by its own link, and puts its own bytes there.
extension AssetDirectory {
    /// Moves a file out of its place. Returns nil when there was no file.
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

    /// Returns the files between the two steps, left by a crash or used by another process.
    func doomed() throws(ServerError) -> [DoomedAsset] {
        try Self.names(in: path + "/doomed").compactMap { name in
            Self.hash(name.prefix(64)).map { DoomedAsset(hash: $0, name: name) }
        }
    }

    /// Returns the paths where a file that is not in its place may be found for the moment.
    func doomedPaths(of hash: ContentHash) throws(ServerError) -> [String] {
        try doomed().filter { $0.hash == hash }.map(path(of:))
    }

    /// Returns the folders of finished files, `00` to `ff`.
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
