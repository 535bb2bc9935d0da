package import RecordModel
package import RecordWire

/// The changes of a committed transaction, for subscriptions.
package struct ChangeNotice: Sendable {
    package enum Event: Sendable, Hashable { case create, update, delete }

    package struct Change: Sendable {
        package let event: Event
        /// The record after the change, or its last state before a deletion.
        package let record: StoredRecord
        package init(event: Event, record: StoredRecord) {
            self.event = event
            self.record = record
        }
    }

    package let zone: ZoneKey
    package let changes: [Change]
    /// The users other than the owner who may need a notification: everybody who has the zone in
    /// the shared database before or after the change.
    package let viewers: [UserName]
    /// The users whose invitations the change made, changed or took back. They learn that there is
    /// something new in the database, but not where.
    package let invitees: [UserName]
    /// The `clientId` of a courier that already knows of the change.
    package var origin: Text?
    package init(
        zone: ZoneKey, changes: [Change], viewers: [UserName], invitees: [UserName] = []
    ) {
        self.zone = zone
        self.changes = changes
        self.viewers = viewers
        self.invitees = invitees
    }
}
