import RecordModel
package import RecordWire

extension ShareRules {
    /// Returns the share after a save of its record with `dictionary`. The owner, an administrator
    /// or a participant may save it; a participant may only remove their own row. The result is
    /// equal to `existing` when nothing about the share changes.
    ///
    /// `participants` is the whole list: a participant who is missing from it, or listed as
    /// REMOVED, is removed.
    package static func update(
        _ existing: ShareRow, with dictionary: RecordDictionary, _ situation: Situation,
        ids: inout RandomIDs
    ) throws(ServerError) -> ShareRow {
        let editor = try ShareEditor(of: existing, situation)
        guard let asked = dictionary.share else {
            if editor != .owner { try requireFieldRights(existing, situation) }
            return existing
        }
        guard asked.root == nil || asked.root == existing.root else {
            throw ServerError(.badRequest, "record.forRecord: a share keeps its root.")
        }
        var edit = ParticipantEdit(
            before: existing,
            owner: try situation.reader.user(existing.zone.database.owner),
            links: asked.oneTimeLinks ?? [], situation: situation)
        if let permission = asked.publicPermission?.orNone,
            permission != existing.publicPermission
        {
            guard editor == .owner else {
                throw ServerError(
                    .accessDenied, "record.publicPermission: only the owner changes it.")
            }
            edit.open(to: permission)
        }
        if let participants = asked.participants {
            try edit.replace(participants, ids: &ids)
            for change in edit.changes { try editor.require(change) }
        }
        var share = edit.share
        try editAccess(to: &share, asked, by: editor, situation)
        // Even an unchanged share gets a new change tag, and a participant who only reads may not
        // cause one.
        if share == existing, editor != .owner { try requireFieldRights(existing, situation) }
        return share
    }

    /// Refuses changes to the share record's fields, such as its title, unless the owner or an
    /// administrator who may write makes them.
    package static func requireFieldRights(_ share: ShareRow, _ situation: Situation)
        throws(ServerError)
    {
        switch try ShareEditor(of: share, situation) {
        case .owner, .administrator(_, .readWrite): return
        default:
            throw ServerError(
                .accessDenied, "Only the owner and administrators change the fields of a share.")
        }
    }
}

/// The editor of a share.
enum ShareEditor: Hashable {
    case owner
    case administrator(participantID: Text, SharePermission)
    case user(participantID: Text)

    init(of share: ShareRow, _ situation: ShareRules.Situation) throws(ServerError) {
        if case .owner = situation.access.view {
            self = .owner
            return
        }
        guard let user = situation.access.user, let row = share.participant(user.name),
            share.viewers.contains(user.name)
        else {
            throw ServerError(.notFound, "There is no such record for this user.")
        }
        self =
            row.type == .administrator
            ? .administrator(participantID: row.participantID, row.permission(in: share))
            : .user(participantID: row.participantID)
    }

    func require(_ change: ParticipantEdit.Change) throws(ServerError) {
        switch (self, change) {
        case (.owner, _): return
        case (.administrator, .removed): return
        case (.administrator(_, let own), .added(let row, let index)):
            guard row.type == .user, row.permission.rank <= own.rank else {
                throw Self.beyondOwn(index)
            }
        case (.administrator(_, let own), .changed(let old, let new, let index)):
            guard old.type == new.type,
                new.permission.rank <= max(own.rank, old.permission.rank)
            else { throw Self.beyondOwn(index) }
        case (.user(let own), .removed(let row)) where row.participantID == own: return
        case (.user, _):
            throw ServerError(
                .accessDenied, "record.participants: a participant may remove only itself.")
        }
    }

    private static func beyondOwn(_ index: Int) -> ServerError {
        ServerError(
            .accessDenied,
            "record.participants[\(index)]: an administrator makes no administrators, and gives no more "
                + "than it has.")
    }
}
