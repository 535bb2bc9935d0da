import RecordModel
import RecordServerCore
import RecordWire

/// The calls for batches with one item.
extension RecordWriter {
    func putReferences(
        _ zone: ZoneHandle, from source: RecordName, _ references: [StoredReference]
    ) throws(ServerError) {
        try putReferences(zone, [RecordReferences(source: source, references)])
    }

    func putIndex(
        _ zone: ZoneHandle, type: RecordTypeName, _ record: RecordName, _ entries: [IndexEntry]
    ) throws(ServerError) {
        try putIndexes(zone, [IndexKeys(record, type: type, entries)])
    }
}

extension AssetWriter {
    func putAssetReferences(
        _ zone: ZoneHandle, from record: RecordName, _ fileChecksums: [Text]
    ) throws(ServerError) {
        try putAssetReferences(zone, [RecordAssets(record, fileChecksums)])
    }
}
