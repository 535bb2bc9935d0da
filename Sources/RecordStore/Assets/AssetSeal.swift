import Glibc
package import RecordModel

/// The seal of a stored asset file: a time of last change that follows from its hash and that no
/// clock shows any more. A program that writes to the file through a file system gives it another
/// time.
///
/// So an open costs one lstat, and a file is read as a whole only when its seal is missing (a copy
/// without times, a store of an earlier version); then it is sealed again. A change by the disk
/// without a write leaves the seal in place; `integrityCheck(deep: true)` finds such a change.
extension AssetFiles {
    /// Returns a time in even seconds, which every file system keeps, between 1980 and 1999.
    private func sealTime(_ hash: ContentHash) -> timespec {
        let number = UInt64(hash.hex.prefix(8), radix: 16) ?? 0
        return timespec(tv_sec: Int(315_532_800 + number % 300_000_000 * 2), tv_nsec: 0)
    }

    /// Seals a file. A seal that cannot be set costs time at the next open, nothing else.
    func seal(_ path: String, _ hash: ContentHash) {
        let time = sealTime(hash)
        var times = [time, time]
        utimensat(AT_FDCWD, path, &times, AT_SYMLINK_NOFOLLOW)
    }

    /// Returns whether the file is as it was placed, as far as its size and times show.
    func isSealed(_ hash: ContentHash, size: Int64) -> Bool {
        var information = stat()
        guard lstat(path(of: hash), &information) == 0,
            information.st_mode & S_IFMT == S_IFREG, Int64(information.st_size) == size
        else { return false }
        let time = sealTime(hash)
        return information.st_mtim.tv_sec == time.tv_sec && information.st_mtim.tv_nsec == 0
    }
}

extension StoredAssets {
    /// Makes sure that the stored file of an asset is unchanged. Returns at once for a file that
    /// nobody has changed.
    ///
    /// - Throws: corrupt for a file that is missing, has another size, or has other bytes.
    package func checkAsset(_ hash: ContentHash, size: Int64) throws(RecordError) {
        let files = AssetFiles(places: store.places)
        if files.isSealed(hash, size: size) { return }
        guard let found = files.size(of: hash) else {
            throw .damagedAsset("is missing", hash, in: store.places)
        }
        guard found == size else {
            throw .damagedAsset("has \(found) bytes, not \(size)", hash, in: store.places)
        }
        guard try hashOfFile(hash) == hash else {
            throw .damagedAsset("was changed", hash, in: store.places)
        }
        files.seal(files.path(of: hash), hash)
    }
}

extension RecordError {
    static func damagedAsset(
        _ what: String, _ hash: ContentHash, in places: StoreDirectory
    ) -> RecordError {
        let path = AssetFiles(places: places).path(of: hash)
        return RecordError(
            .corrupt,
            "The file with its bytes, \(path), \(what). Bring that file back from a backup, or "
                + "write the field's file again.")
    }
}
