import RecordModel

/// The objects in the to-many relationship of an object.
struct ObjectList: Hashable {
    let zone: ZoneID
    let owner: RecordName
    let relationship: FieldName
}
