package import RecordModel
package import RecordStore
package import RecordWire

/// What an edit of a share, or its end, would take from whom. Nothing is changed by asking.
package struct SharePreview: Hashable, Sendable {
    /// As it is now.
    package let share: ShareAnswer
    /// Who would have it no longer.
    package let loss: ShareLoss
    /// What is here of what is shared.
    package let extent: StoredExtent
    /// Whether all of that would go from this account.
    package let goes: Bool
}

/// Who has a share no longer, or is not invited to it any more.
package struct ShareLoss: Hashable, Sendable {
    package fileprivate(set) var people: [ParticipantAnswer] = []
    /// Whether nobody can come in by the share's own link any more.
    package fileprivate(set) var closesLink = false
    /// Links for one person each that nobody can use any more.
    package fileprivate(set) var links: [Text] = []

    /// Of all, when the owner ends it.
    init(endOf share: ShareAnswer) {
        closesLink = share.publicPermission.isOpen
        add(share.participants, of: share)
    }

    /// Of somebody who leaves.
    init(leaving share: ShareAnswer) {
        people = share.current.map { [$0] } ?? []
    }

    /// Of what an edit takes from people.
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
    /// Who has joined by the link may what everyone may, whatever is said of him.
    fileprivate func problemOfJoined(_ share: ShareAnswer) -> RecordError? {
        var joined = self
        joined.members = members.filter { member in
            share.participants.contains { $0.type == .publicUser && $0.isNamed(by: member.address) }
        }
        return joined.problem(with: share)
    }
}

extension SharePreview {
    /// As `--dry-run --json` has it, but for the path.
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
                ("records", extent.records), ("bytes", extent.bytes), ("unsent", extent.unsent),
                ("drafts", extent.drafts),
            ].map { JSONMember(key: Text($0.0), value: .number(JSONNumber($0.1))) })
    }
}
