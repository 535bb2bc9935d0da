import Glibc
import RecordModel
import RecordStore

/// Files that are not finished, below the store.
final class WorkingFiles: Sendable {
    let store: RecordStore

    init(store: RecordStore) {
        self.store = store
    }

    /// Makes an anonymous file with these bytes.
    func temporaryFile(_ bytes: [UInt8]) throws(RecordError) -> HostFile {
        let (file, path) = try newFile()
        guard withPath(path, { unlink($0) }) == 0 else { throw .lastSystemError("unlink", path) }
        try file.writeAll(bytes)
        return file
    }

    /// Makes an empty file, and returns its path.
    func newFile() throws(RecordError) -> (HostFile, [UInt8]) {
        let path = Array(store.assets.pathForUnfinishedAsset().utf8)
        return (try HostFile(path: path, flags: O_RDWR | O_CREAT | O_EXCL), path)
    }
}
