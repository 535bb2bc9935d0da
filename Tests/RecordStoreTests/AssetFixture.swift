import Foundation
import RecordModel
import RecordStore

extension StoreFixture {
    /// Puts bytes into the store, as a file that was written.
    func importBytes(_ text: String) throws -> (hash: ContentHash, size: Int64) {
        let path = directory + "/scratch/\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try store.assets.importAsset(fromFile: path)
    }

    /// Writes the file STEM@FIELD(.INDEX).bin of a record.
    @discardableResult
    func setAsset(
        _ record: RecordID, _ field: String, _ index: Int? = nil, bytes text: String,
        isInPlace: Bool = false
    ) throws -> AssetEntry? {
        let (hash, size) = try importBytes(text)
        return try write { transaction throws(RecordError) in
            try transaction.assets.setAsset(
                record, FieldName(field), index, hash, size: size,
                fileExtension: Array("bin".utf8), isInPlace: isInPlace)
        }
    }

    func removeAsset(_ record: RecordID, _ field: String, _ index: Int? = nil) throws {
        try write { transaction throws(RecordError) in
            try transaction.assets.removeAsset(record, FieldName(field), index)
        }
    }

    /// The files of a record with what is in them, as NAME=BYTES; nothing behind the sign while
    /// the bytes are to come.
    func files(_ record: RecordID) throws -> [String] {
        try store.assets.assets(of: record).map { asset in
            let name = String(decoding: asset.fileName, as: UTF8.self)
            guard let hash = asset.hash else { return name + "=" }
            let path = store.assets.assetPath(hash)
            return name + "=" + (try String(contentsOfFile: path, encoding: .utf8))
        }
    }

    func exists(_ hash: ContentHash) -> Bool {
        FileManager.default.fileExists(atPath: store.assets.assetPath(hash))
    }
}
