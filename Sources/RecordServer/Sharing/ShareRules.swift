package import RecordModel
package import RecordWire

/// Who may be in a share and what they may do (reference §5.9, §9): decided here, in the
/// transaction that stores the result.
package enum ShareRules {
    /// What a rule needs to know besides the share and the request.
    package struct Situation {
        package let access: ZoneAccess
        package let context: OperationContext
        package let settings: ServiceSettings
        package let reader: any StorageReader
        /// Shares that the same batch has put already, or taken away (nil).
        package var pending: [RecordName: ShareRow?] = [:]

        package init(
            access: ZoneAccess, context: OperationContext, settings: ServiceSettings,
            reader: any StorageReader
        ) {
            self.access = access
            self.context = context
            self.settings = settings
            self.reader = reader
        }
    }

    /// The share that a new `cloudkit.share` record makes. `root` is the record that `forRecord`
    /// names as the batch has it so far, nil where it is not there.
    package static func create(
        _ dictionary: RecordDictionary, root: StoredRecord?, _ situation: Situation,
        ids: inout RandomIDs
    ) throws(ServerError) -> ShareRow {
        throw ServerError(.internalError, "")
    }

    /// The share after its record was saved again with `dictionary`, by the owner, an
    /// administrator, or a participant, who may take itself out only. Equal to `existing` when
    /// nothing about the share changes.
    package static func update(
        _ existing: ShareRow, with dictionary: RecordDictionary, _ situation: Situation,
        ids: inout RandomIDs
    ) throws(ServerError) -> ShareRow {
        throw ServerError(.internalError, "")
    }

    /// The share without this participant, who deleted its record in the shared database.
    package static func leave(_ existing: ShareRow, _ user: UserName) -> ShareRow { existing }

    /// Stores what became of a share (nil: none before, or none any more), and gives every viewer
    /// whose set of accepted shares changed another view. The share record, its root and the
    /// members are the caller's to write.
    package static func apply(
        old: ShareRow?, new: ShareRow?, ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        throw ServerError(.internalError, "")
    }

    /// Takes a zone out of every shared database, before the zone itself is deleted.
    package static func endViews(
        of zone: ZoneKey, reason: DeletionReason, _ transaction: any StorageTransaction
    ) throws(ServerError) {
        for viewer in try transaction.viewers(zone) {
            try transaction.deleteSharedZone(viewer.viewer, zone, reason: reason)
        }
    }

    /// The members of a record dictionary that only shares have, as `viewer` may see them:
    /// shortGUID, publicPermission, participants, owner, currentUserParticipant.
    package static func members(
        of share: ShareRow, for viewer: UserName?, _ reader: any StorageReader
    ) throws(ServerError) -> [JSONMember] {
        throw ServerError(.internalError, "")
    }
}
