package import RecordModel
import RecordSQL

/// A record in all versions of one name, whatever its type.
package struct RecordKey: Hashable, Sendable {
    package let zone: ZoneID
    package let name: RecordName

    package init(zone: ZoneID, name: RecordName) { (self.zone, self.name) = (zone, name) }
}

/// A record in one type: a name that has moved to another type is at another place.
package struct RecordPlace: Hashable, Sendable {
    package let zone: ZoneID
    package let type: RecordTypeName
    package let name: RecordName

    package var key: RecordKey { RecordKey(zone: zone, name: name) }
}

extension SQLStatement {
    /// Returns the place in three columns: zone, type and name.
    func recordPlace(_ column: Int32) -> RecordPlace {
        RecordPlace(
            zone: ZoneID(int64(column)), type: RecordTypeName(bytes: bytes(column + 1)),
            name: RecordName(bytes: bytes(column + 2)))
    }
}
