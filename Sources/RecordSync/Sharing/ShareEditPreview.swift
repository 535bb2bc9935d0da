package import RecordModel
package import RecordStore
package import RecordWire

/// The people and links that an edit of a share, or its end, would affect. A preview changes
/// nothing.
package struct ShareEditPreview: Hashable, Sendable {
    /// The current share.
    package let share: ShareAnswer
    /// The people and links that would lose access.
    package let loss: ShareLoss
    /// The size of the local content of the share.
    package let extent: StoredExtent
    /// Indicates whether all of that content would be removed from this account.
    package let goes: Bool
}

/// The people and links that lose access to a share or an invitation to it.
package struct ShareLoss: Hashable, Sendable {
    package fileprivate(set) var people: [ParticipantAnswer] = []
    /// Indicates that nobody can join by the share's own link any more.
    package fileprivate(set) var closesLink = false
    /// One-time links that can no longer be used.
    package fileprivate(set) var links: [Text] = []

    /// The loss of all participants when the owner ends the share.
    init(endOf share: ShareAnswer) {
        closesLink = share.publicPermission.isOpen
        add(share.participants, of: share)
    }

    /// The loss of a participant who leaves.
    init(leaving share: ShareAnswer) {
        people = share.current.map { [$0] } ?? []
    }

    /// The loss that an edit causes.
    ///
    /// Errors: those that the edit itself would have; the server may have others.
    init(_ edit: ShareEdit, of share: ShareAnswer) throws(RecordError) {
        guard share.mayBeEdited else {
            throw RecordError(.accessDenied, "its owner and administrators alone change a share.")
        }
        let list = try edit.participants(of: share)
        if let problem = edit.problemOfJoined(share) { throw problem }
        let new = edit.publicPermission ?? share.publicPermission
        closesLink = share.publicPermission.isOpen && !new.isOpen
        let going = share.participants.filter { participant in
            if closesLink { return true }
            let stopsInviting = !share.publicPermission.isOpen && new.isOpen
            if stopsInviting, participant.status == .invited { return true }
            guard let list else { return false }
            let kept = list.first { $0.participantID == participant.id }
            return kept == nil
                || kept?.permission == SharePermission.none
                    && participant.permission != .none
        }
        add(going, of: share)
    }

    private mutating func add(_ going: [ParticipantAnswer], of share: ShareAnswer) {
        for participant in going where participant.type != .owner {
            if let link = share.links.first(where: { $0.participantID == participant.id }) {
                links.append(link.url)
            } else {
                people.append(participant)
            }
        }
    }
}

extension SharePermission {
    fileprivate var isOpen: Bool { self == .readOnly || self == .readWrite }
}

extension ShareAnswer {
    fileprivate var mayBeEdited: Bool {
        current?.type == .owner || current?.type == .administrator
    }
}

extension ShareEdit {
    /// Returns the error for a person who has joined by the link: they have the permission of
    /// everyone, whatever the edit says.
    fileprivate func problemOfJoined(_ share: ShareAnswer) -> RecordError? {
        var joined = self
        joined.members = members.filter { member in
            share.participants.contains { $0.type == .publicUser && $0.isNamed(by: member.address) }
        }
        return joined.problem(with: share)
    }
}

extension ShareEditPreview {
    /// The JSON of `--dry-run --json`, without the path.
    package var json: JSONValue {
        var members: [JSONMember] = []
        if let title = share.title {
            members.append(JSONMember(key: "title", value: .string(title)))
        }
        if let url = share.url { members.append(JSONMember(key: "url", value: .string(url))) }
        if let owner = share.owner {
            members.append(JSONMember(key: "owner", value: owner.ownerJSON))
        }
        members += [
            JSONMember(key: "loses", value: .array(loss.people.map(\.json))),
            JSONMember(key: "linkCloses", value: .bool(loss.closesLink)),
            JSONMember(key: "linksEnd", value: .array(loss.links.map { .string($0) })),
            JSONMember(key: "goes", value: json(of: goes ? extent : StoredExtent())),
            JSONMember(key: "stays", value: json(of: goes ? StoredExtent() : extent)),
        ]
        return .object(members)
    }

    private func json(of extent: StoredExtent) -> JSONValue {
        .object(
            [
                ("records", extent.records), ("size", extent.bytes), ("unsent", extent.unsent),
                ("drafts", extent.drafts),
            ].map { JSONMember(key: Text($0.0), value: .number(JSONNumber($0.1))) })
    }
}
