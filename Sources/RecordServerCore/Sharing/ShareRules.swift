package import RecordModel
package import RecordWire

/// The rules for the participants of a share and their permissions (Protocol, "Sharing"). They are
/// applied in the transaction that stores the result.
package enum ShareRules {
    /// The facts that a rule needs besides the share and the request.
    package struct Situation {
        package let access: ZoneAccess
        package let context: OperationContext
        package let settings: ServiceSettings
        package let reader: any StorageReader
        /// The shares that the same batch has already put or removed (nil).
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

        /// Returns a share of the zone as the batch has it so far.
        func share(_ name: RecordName) throws(ServerError) -> ShareRow? {
            if let known = pending[name] { return known }
            return try reader.share(access.zone.key, name)
        }

        /// Returns whether the zone has any share, as the batch has it so far.
        func hasShares() throws(ServerError) -> Bool {
            if pending.values.contains(where: { $0 != nil }) { return true }
            return try reader.shares(access.zone.key).contains { pending[$0.name] == nil }
        }
    }

    /// Returns the share that a new `cloudkit.share` record makes. `root` is the record that
    /// `forRecord` names, as the batch has it so far, or nil when it does not exist. The caller
    /// stores the share's short GUID with the root as well, and keeps it when the share ends (for a
    /// zone share, in the tombstone of its record). The next share of the root then has the same
    /// URL.
    package static func create(
        _ dictionary: RecordDictionary, root: StoredRecord?, _ situation: Situation,
        ids: inout RandomIDs
    ) throws(ServerError) -> ShareRow {
        let owner = try owner(situation)
        let zone = situation.access.zone
        let asked = dictionary.share ?? ShareDictionary()
        let shortGUID: Text?
        if asked.root == nil {
            try requireUnsharedZone(dictionary, situation)
            let earlier = try situation.reader.records(zone.handle, [.zoneShare])
            shortGUID = earlier[.zoneShare]?.shortGUID
        } else {
            try requireUnshared(root, dictionary, asked, situation)
            shortGUID = root?.shortGUID
        }
        let name = dictionary.name ?? (asked.root == nil ? .zoneShare : ids.recordName())
        var share = ShareRow(
            zone: zone.key, name: name, root: asked.root, shortGUID: shortGUID ?? ids.shortGUID(),
            publicPermission: (asked.publicPermission ?? .none).orNone,
            participants: [
                ParticipantRow(
                    participantID: ids.hex128(), user: owner.name,
                    lookup: UserLookup(userName: owner.name), type: .owner,
                    permission: .readWrite, status: .accepted)
            ])
        if let participants = asked.participants {
            var edit = ParticipantEdit(
                before: share, owner: owner, links: asked.oneTimeLinks ?? [], situation: situation)
            try edit.replace(participants, ids: &ids)
            share = edit.share
        }
        try editAccess(to: &share, asked, by: .owner, situation)
        return share
    }

    /// Returns the share without this participant, who deleted its record in the shared database.
    package static func leave(_ existing: ShareRow, _ user: UserName) -> ShareRow {
        var share = existing
        guard let row = share.participant(user) else { return share }
        share.forget(row.participantID)
        return share
    }

    /// Returns the caller, when the zone is the caller's own custom zone.
    private static func owner(_ situation: Situation) throws(ServerError) -> UserRow {
        let access = situation.access
        try Permissions.decide(.records(.share, ZoneRights(view: access.view))).require()
        if case .publicDatabase = access.view {
            throw ServerError(.badRequest, "The public database has no shares.")
        }
        guard !access.zone.key.isDefaultZone else {
            throw ServerError(
                .badRequest, "The default zone has no shares: put the records into a zone.")
        }
        guard let user = access.user else {
            throw ServerError(
                .authenticationRequired, "This operation needs a user: sign in first.")
        }
        return user
    }

    private static func requireUnsharedZone(
        _ dictionary: RecordDictionary, _ situation: Situation
    ) throws(ServerError) {
        guard dictionary.name == nil || dictionary.name == .zoneShare else {
            throw ServerError(
                .badRequest,
                "record.forRecord is missing; the share of a whole zone is named \(RecordName.zoneShare)."
            )
        }
        guard try !situation.hasShares() else {
            throw ServerError(
                .alreadyShared, "Records of this zone are shared: stop that before sharing it all.")
        }
    }

    private static func requireUnshared(
        _ root: StoredRecord?, _ dictionary: RecordDictionary, _ asked: ShareDictionary,
        _ situation: Situation
    ) throws(ServerError) {
        guard dictionary.name != .zoneShare else {
            throw ServerError(
                .badRequest,
                "record.forRecord does not go with the name \(RecordName.zoneShare).")
        }
        guard let root, !root.isDeleted, root.type != .share, root.name != dictionary.name else {
            throw ServerError(
                .badRequest, "record.forRecord names no record of this zone that can be shared.")
        }
        guard try situation.share(.zoneShare) == nil, root.share == nil else {
            throw ServerError(.alreadyShared, "The record is in a share already.")
        }
        guard let tag = asked.rootChangeTag else {
            guard !situation.settings.isStrict else {
                throw ServerError(.badRequest, "record.forRecord.recordChangeTag is missing.")
            }
            return
        }
        // A batch may save the root as well. The client then knows the tag from before.
        let stored = try situation.reader.records(situation.access.zone.handle, [root.name])
        guard tag == root.changeTag || tag == stored[root.name]?.changeTag else {
            throw ServerError(
                .conflict, "record.forRecord.recordChangeTag is not that of the root record.")
        }
    }
}

extension SharePermission {
    /// The permission, or none for one that the server does not understand.
    package var orNone: SharePermission { self == .unknown ? .none : self }

    /// The rank of the permission. A larger rank includes a smaller one.
    var rank: Int {
        switch self {
        case .none, .unknown: 0
        case .readOnly: 1
        case .readWrite: 2
        }
    }
}
