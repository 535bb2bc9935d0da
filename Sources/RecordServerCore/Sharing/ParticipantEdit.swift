import RecordModel
import RecordWire

/// An edit of the list of participants, from the stored list to the list that a request wants.
struct ParticipantEdit {
    enum Change: Hashable {
        case added(ParticipantRow, index: Int)
        case removed(ParticipantRow)
        case changed(ParticipantRow, ParticipantRow, index: Int)
    }

    let before: ShareRow
    let owner: UserRow?
    let situation: ShareRules.Situation
    /// The participants that the request gives a one-time link.
    let links: Set<Text>
    private(set) var share: ShareRow
    private(set) var changes: [Change] = []

    init(
        before: ShareRow, owner: UserRow?, links: [Text] = [], situation: ShareRules.Situation
    ) {
        self.before = before
        self.links = Set(links)
        self.owner = owner
        self.situation = situation
        share = before
    }

    /// Switches `publicPermission` (Protocol, "Sharing"). A share that becomes public drops pending
    /// invitations and keeps the participants who have accepted. A share that becomes private
    /// starts without participants.
    mutating func open(to permission: SharePermission) {
        for row in before.present {
            let goes =
                permission == .none
                || before.publicPermission == .none && row.status == .invited
            if goes { share.forget(row.participantID) }
        }
        share.publicPermission = permission
    }

    /// Makes `list` the whole list of participants.
    mutating func replace(_ list: [ParticipantDictionary], ids: inout RandomIDs)
        throws(ServerError)
    {
        var listed: Set<Text> = []
        for (index, item) in list.enumerated() {
            var item = item
            item.lookup = item.lookup.normalised
            if item.lookup.userName == .defaultOwner {
                item.lookup.userName = situation.access.user?.name
            }
            if try isOwner(item, index) { continue }
            let row: ParticipantRow
            if let known = match(item) {
                row = known
                if item.status == .removed { continue }
                change(known, item, index)
            } else {
                if item.status == .removed { continue }
                row = try add(item, index, ids: &ids)
            }
            guard listed.insert(row.participantID).inserted else {
                throw error(index, "is there twice.")
            }
        }
        for row in share.present where !listed.contains(row.participantID) {
            let isSelf = row.user != nil && row.user == situation.access.user?.name
            if isSelf || row.isOpenLink {
                share.forget(row.participantID)
            } else {
                share.remove(row.participantID)
            }
            changes.append(.removed(row))
        }
        try requireRoom()
    }

    private func isOwner(_ item: ParticipantDictionary, _ index: Int) throws(ServerError) -> Bool {
        let name = before.zone.database.owner
        if let id = item.participantID,
            before.participants.contains(where: { $0.participantID == id && $0.type == .owner })
        {
            return true
        }
        if let user = item.lookup.userName, user == name { return true }
        if item.lookup.userName == nil, let owner, owner.hasAddress(of: item.lookup) {
            return true
        }
        guard item.type == .owner else { return false }
        guard item.lookup.isEmpty else { throw error(index, "is not the owner of the zone.") }
        return true
    }

    /// Returns the row that the item means, among the earlier rows and those that this request has
    /// added.
    private func match(_ item: ParticipantDictionary) -> ParticipantRow? {
        let rows =
            before.present
            + changes.compactMap { change in
                if case .added(let row, _) = change { row } else { nil }
            }
        if let id = item.participantID, let row = rows.first(where: { $0.participantID == id }) {
            return row
        }
        // Match by the words of the request only, and by nothing else that the server knows of an
        // account. Otherwise a caller could find out by an invitation whether an address belongs to
        // a user. A person who is invited twice becomes one participant when they accept.
        return rows.first { $0.isNamed(by: item.lookup) }
    }

    private mutating func change(
        _ row: ParticipantRow, _ item: ParticipantDictionary, _ index: Int
    ) {
        // The row may be gone because of the switch of the public permission. A public user has the
        // permission of everybody.
        guard var new = share.present.first(where: { $0.participantID == row.participantID }),
            new.type != .publicUser
        else { return }
        if let permission = item.permission { new.permission = permission.orNone }
        if item.type == .user || item.type == .administrator { new.type = item.type ?? new.type }
        guard new != row else { return }
        share.replace(new)
        changes.append(.changed(row, new, index: index))
    }

    private mutating func add(
        _ item: ParticipantDictionary, _ index: Int, ids: inout RandomIDs
    ) throws(ServerError) -> ParticipantRow {
        let linked = try item.lookup.isEmpty ? linkedID(item, index) : nil
        guard item.type != .publicUser else {
            throw error(index, "is a public user: those join by the URL.")
        }
        guard share.publicPermission == .none else {
            throw error(index, "cannot be added while publicPermission is not NONE.")
        }
        var row = ParticipantRow(
            participantID: linked ?? ids.hex128(), user: item.lookup.userName,
            lookup: item.lookup, type: item.type == .administrator ? .administrator : .user,
            permission: (item.permission ?? .readOnly).orNone, status: .invited)
        row.invitedMilliseconds = situation.context.milliseconds
        if linked != nil { row.link = ids.shortGUID() }
        row.isApprovedRequester = try hasAsked(row)
        share.participants.removeAll { $0.status == .removed && $0.isNamed(by: item.lookup) }
        try requireFewInvitations(to: item.lookup, index)
        // Compare the same words only, so that nobody learns that two of them mean one person.
        share.blocked.removeAll { row.isNamed(by: $0.lookup) }
        share.participants.append(row)
        changes.append(.added(row, index: index))
        return row
    }

    /// Refuses too many invitations to one person who has answered none, so that no user can fill
    /// another user's list of invitations.
    private func requireFewInvitations(to lookup: UserLookup, _ index: Int) throws(ServerError) {
        let limit = situation.settings.invitationsPerPerson
        guard !lookup.isEmpty else { return }
        var count = try situation.reader.invitationCount(
            by: before.zone.database.owner, to: lookup)
        for case let share? in situation.pending.values {
            count += share.present.count {
                $0.status == .invited && $0.isNamed(by: lookup)
                    && $0.invitedMilliseconds == situation.context.milliseconds
            }
        }
        guard count >= limit else { return }
        throw ServerError(
            .limitExceeded,
            "record.participants[\(index)] has \(limit) of your invitations and has answered none: "
                + "wait for an answer, or take some back.")
    }

    private func hasAsked(_ row: ParticipantRow) throws(ServerError) -> Bool {
        for requester in share.requesters {
            guard let account = try situation.reader.user(requester.user) else { continue }
            if row.means(account) { return true }
        }
        return false
    }

    /// Returns the ID of a participant with a one-time link. Such a link invites no particular
    /// person. Its client names the participant, and recognises the link by that name.
    private func linkedID(
        _ item: ParticipantDictionary, _ index: Int
    ) throws(ServerError) -> Text {
        guard let id = item.participantID, links.contains(id) else {
            throw error(
                index,
                "names nobody: give userIdentity.lookupInfo an address or a user, or its "
                    + "participantId a place in oneTimeStableUrlInfo.oneTimeLinks.")
        }
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw error(
                index, "has a participantId that is not of 1 to 64 printable ASCII characters.")
        }
        guard !share.participants.contains(where: { $0.participantID == id }) else {
            throw error(index, "has the participantId of another one.")
        }
        guard item.type != .administrator else {
            throw error(index, "is an administrator: invite those by name, not by a link.")
        }
        return id
    }

    private func requireRoom() throws(ServerError) {
        let limit = situation.settings.participantsPerShare
        guard changes.contains(where: { if case .added = $0 { true } else { false } }),
            share.present.count > limit
        else { return }
        throw ServerError(
            .tooManyParticipants, "record.participants: a share has at most \(limit) participants.")
    }

    private func error(_ index: Int, _ problem: String) -> ServerError {
        ServerError(.badRequest, "record.participants[\(index)] \(problem)")
    }
}
