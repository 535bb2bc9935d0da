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
            try Permissions.decide(.share(.publicPermission, by: editor)).require()
            edit.open(to: permission)
        }
        if let participants = asked.participants {
            try edit.replace(participants, ids: &ids)
            for change in edit.changes {
                try Permissions.decide(.share(.participants(change), by: editor)).require()
            }
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
        let editor = try ShareEditor(of: share, situation)
        try Permissions.decide(.share(.fields, by: editor)).require()
    }
}
