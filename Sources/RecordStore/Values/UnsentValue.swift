import RecordModel

/// A value of an unsent record in a zone of others.
struct UnsentValue {
    let record: RecordID
    let name: RecordName
    let field: RecordField
}
