/// The place of a record in a database of one owner.
package struct RecordAddress: Hashable, Sendable {
    package let zone: ZoneName
    package let type: RecordTypeName
    package let name: RecordName

    package init(zone: ZoneName, type: RecordTypeName, name: RecordName) {
        self.zone = zone
        self.type = type
        self.name = name
    }
}
