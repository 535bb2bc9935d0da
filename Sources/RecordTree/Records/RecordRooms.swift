import RecordModel

/// The rooms of the records.
struct RecordRooms: Sendable {
    let records: OpenRecords
    let saving: RecordSaving
    let recordFiles: RecordFiles

    init(_ ground: Ground, _ assetRooms: AssetRooms) {
        records = OpenRecords(ground)
        saving = RecordSaving(ground, assetRooms, records: records)
        recordFiles = RecordFiles(ground, records: records, saving: saving)
    }
}
