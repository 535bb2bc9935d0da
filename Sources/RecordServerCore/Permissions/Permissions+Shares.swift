import RecordWire

extension Permissions {
    /// Decides about a change of a share. The owner may change everything, and an administrator
    /// invites and removes people and answers requests. A participant may only leave.
    static func decide(_ edit: ShareChange, by editor: ShareEditor) -> Decision {
        switch (edit, editor) {
        case (_, .owner), (.fields, .administrator(_, .readWrite)), (.access, .administrator):
            .allowed
        case (.fields, _):
            .denied("Only the owner and administrators change the fields of a share.")
        case (.publicPermission, _):
            .denied("record.publicPermission: only the owner changes it.")
        case (.access, .user):
            .denied("Only the owner and administrators may change the access to a share.")
        case (.participants(let change), .administrator(_, let own)):
            decide(change, byAdministratorWith: own)
        case (.participants(.removed(let row)), .user(let own)) where row.participantID == own:
            .allowed
        case (.participants, .user):
            .denied("record.participants: a participant may remove only itself.")
        }
    }

    /// An administrator gives at most the permission that the administrator has, and the role of an
    /// administrator to nobody.
    private static func decide(
        _ change: ParticipantEdit.Change, byAdministratorWith own: SharePermission
    ) -> Decision {
        switch change {
        case .removed: .allowed
        case .added(let row, let index):
            row.type == .user && row.permission.rank <= own.rank ? .allowed : beyondOwn(index)
        case .changed(let old, let new, let index):
            old.type == new.type && new.permission.rank <= max(own.rank, old.permission.rank)
                ? .allowed : beyondOwn(index)
        }
    }

    private static func beyondOwn(_ index: Int) -> Decision {
        .denied(
            "record.participants[\(index)]: an administrator makes no administrators, and gives no more "
                + "than it has.")
    }
}
