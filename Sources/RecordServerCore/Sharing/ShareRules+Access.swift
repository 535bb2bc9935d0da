import RecordModel
import RecordWire

/// The requests for access to a share, the people it is closed to, and its one-time links.
extension ShareRules {
    /// Applies the part of a save of the share that concerns access. `share` has the participants
    /// that the save asks for.
    ///
    /// Errors: accessDenied for changes by others than the owner and administrators; badRequest for
    /// the owner among the blocked.
    static func editAccess(
        to share: inout ShareRow, _ asked: ShareDictionary, by editor: ShareEditor,
        _ situation: Situation
    ) throws(ServerError) {
        let before = share
        if let denies = asked.deniesAccessRequests { share.deniesAccessRequests = denies }
        if let links = asked.oneTimeLinks {
            // An editor who does not see a link does not end it by leaving it out.
            var rank = SharePermission.readWrite.rank
            if case .administrator(_, let own) = editor { rank = own.rank }
            share.endLinks(but: links, upTo: rank)
        }
        if let left = asked.requesters {
            try share.dropRequesters(but: left.map(\.normalised), situation.reader)
        }
        if let blocked = asked.blocked {
            try share.block(only: blocked.map(\.normalised), situation.reader)
        }
        if share != before { try Permissions.decide(.share(.access, by: editor)).require() }
        try share.dropAnsweredRequests(situation.reader)
    }
}

extension ShareRow {
    /// The most people who may wait for an answer at a time.
    package static let requesterLimit = 100
    /// The most people who may be blocked.
    package static let blockedLimit = 1_000

    /// Returns whether the owner has blocked a user.
    func blocks(_ user: UserRow) -> Bool {
        blocked.contains { $0.lookup.userName == user.name || user.hasAddress(of: $0.lookup) }
    }

    /// Ends the links that nobody has used and that do not belong to these participants.
    fileprivate mutating func endLinks(but kept: [Text], upTo rank: Int) {
        let kept = Set(kept)
        for row in present
        where row.isOpenLink && row.permission.rank <= rank && !kept.contains(row.participantID) {
            forget(row.participantID)
        }
    }

    fileprivate mutating func dropRequesters(
        but left: [UserLookup], _ reader: any StorageReader
    ) throws(ServerError) {
        var kept: [RequesterRow] = []
        for requester in requesters {
            let account = try reader.user(requester.user)
            let isKept = left.contains { lookup in
                lookup.userName == requester.user || account?.hasAddress(of: lookup) ?? false
            }
            if isKept { kept.append(requester) }
        }
        requesters = kept
    }

    /// Makes these people the blocked ones. Blocked people who are in the share already are
    /// removed.
    fileprivate mutating func block(
        only lookups: [UserLookup], _ reader: any StorageReader
    ) throws(ServerError) {
        guard lookups.count <= Self.blockedLimit else {
            throw ServerError(
                .limitExceeded, "record.blocked: at most \(Self.blockedLimit) people are blocked.")
        }
        var seen: Set<UserLookup> = []
        blocked = lookups.filter { seen.insert($0).inserted }.map(BlockedRow.init(lookup:))
        if let owner = try reader.user(zone.database.owner), blocks(owner) {
            throw ServerError(.badRequest, "record.blocked: the owner is among them.")
        }
        // Compare the same words only. Otherwise an editor could find out by blocking an address
        // whether it belongs to a user who is in the share by name.
        for row in present where blocked.contains(where: { row.isNamed(by: $0.lookup) }) {
            remove(row.participantID)
        }
    }

    /// Returns the requests that still wait. Requests of people who are in or are blocked are
    /// dropped, and all of them when anybody may join.
    func waitingRequests(_ reader: any StorageReader) throws(ServerError) -> [RequesterRow] {
        guard publicPermission.orNone == .none, !deniesAccessRequests else { return [] }
        var waiting: [RequesterRow] = []
        for requester in requesters {
            guard let account = try reader.user(requester.user), !blocks(account),
                !present.contains(where: { $0.means(account) })
            else { continue }
            waiting.append(requester)
        }
        return waiting
    }

    mutating func dropAnsweredRequests(_ reader: any StorageReader) throws(ServerError) {
        guard !requesters.isEmpty else { return }
        requesters = try waitingRequests(reader)
    }

    /// Returns the share with a new request for access. Returns the unchanged share when the
    /// request has no effect, which the user does not learn.
    func requested(by user: UserRow, milliseconds: Int64) -> ShareRow {
        guard case .stranger = ShareStanding(of: user, in: self),
            publicPermission.orNone == .none, !deniesAccessRequests, !blocks(user),
            !requesters.contains(where: { $0.user == user.name }),
            requesters.count < Self.requesterLimit
        else { return self }
        var share = self
        share.requesters.append(RequesterRow(user: user.name, milliseconds: milliseconds))
        return share
    }
}

extension ParticipantRow {
    /// Indicates whether this row is still nobody's: the first person who opens its one-time link
    /// takes it.
    package var isOpenLink: Bool { link != nil && user == nil && status == .invited }
}
