import RecordModel
import RecordWire

extension AssetValue {
    /// An asset of the server, as a value with the name of the file that shows it here.
    init(_ asset: WireAsset, of record: RecordName, _ field: FieldName, _ index: Int?) {
        let stem = Stem(encoding: record)
        func name(_ fileExtension: [UInt8]) -> [UInt8] {
            EntryName.assetFileName(
                stem: stem, field: field, index: index, fileExtension: fileExtension)
        }
        let fileExtension = FileExtension.shown(asset.fileExtension?.utf8 ?? [])
        var fileName = name(fileExtension)
        // An extension with which the name would be read as something else, or would not be a file
        // name, is left out.
        let parts = EntryName.asset(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
        if fileName.count > 255 || EntryName(classifying: fileName) != parts { fileName = name([]) }
        self.init(fileName: Text(utf8: fileName), size: asset.size, sha256: asset.sha256)
    }
}
