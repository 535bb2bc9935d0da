package import RecordModel
package import RecordWire

/// What a committed transaction changed, for subscriptions.
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
    /// Who else may have to be told besides the owner: everybody with the zone in the shared
    /// database before or after the change.
    package let viewers: [UserName]
    /// Whom it invites, or no longer, or to something of another name: they are told that there is
    /// something new in the database, and not where.
    package let invitees: [UserName]
    /// The `clientId` of a courier that knows it already.
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
