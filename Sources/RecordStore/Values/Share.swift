package import RecordModel

/// What the server last told of a share.
package struct Share: Hashable, Sendable {
    package let name: RecordName
    /// The record that is shared, with what hangs on it; nil for the whole zone.
    package let root: RecordName?
    /// What this machine's user may do with what is shared.
    package let permission: ZoneInfo.Permission
    /// All of it, as JSON for people and programs.
    package let text: [UInt8]
    /// When this machine first had this text.
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
