package import RecordModel

/// A share as the server last reported it.
package struct Share: Hashable, Sendable {
    package let name: RecordName
    /// The record that is shared, with its children. Nil for the whole zone.
    package let root: RecordName?
    /// The permission of this machine's user for the shared records.
    package let permission: ZoneInfo.Permission
    /// The complete share as JSON, for people and programs.
    package let text: [UInt8]
    /// The time at which this machine first had this text.
    package let changed: Timestamp

    package init(
        name: RecordName, root: RecordName?, permission: ZoneInfo.Permission, text: [UInt8],
        changed: Timestamp = Timestamp(nanoseconds: 0)
    ) {
        self.name = name
        self.root = root
        self.permission = permission
        self.text = text
        self.changed = changed
    }
}
