import RecordModel
import RecordServerCore
import RecordWire

/// Who may see and change what, worked out from what was asked of shares, apart from the server
/// (Protocol, "Sharing").
struct ShareModel {
    struct Member: Hashable {
        /// Has come by the link, and may what everyone may.
        var isPublic = false
        var isAccepted = false
        /// May manage the share as far as he himself goes.
        var isAdministrator = false
        var permission: SharePermission

        /// As machines and the server name it.
        var role: String {
            isPublic ? "PUBLIC_USER" : isAdministrator ? "ADMINISTRATOR" : "USER"
        }
    }

    struct Sharing: Hashable {
        var everyone = SharePermission.none
        var members: [Int: Member] = [:]
        /// Whom the owner has taken out: they do not come back by the link alone.
        var removed: Set<Int> = []
        var link: Text

        func permission(of member: Member) -> SharePermission {
            member.isPublic ? everyone : member.permission
        }

        /// What somebody may who has accepted.
        func permission(of user: Int) -> SharePermission {
            guard let member = members[user], member.isAccepted else { return .none }
            return permission(of: member)
        }
    }

    private(set) var shares: [SharedSpot: Sharing] = [:]
    /// They outlive their shares.
    private(set) var links: [SharedSpot: Text] = [:]

    /// Those of the zone that somebody has.
    func spots(of user: Int, in zone: String) -> [SharedSpot: SharePermission] {
        var spots: [SharedSpot: SharePermission] = [:]
        for (spot, share) in shares where spot.zone == zone {
            let permission = share.permission(of: user)
            if permission != .none { spots[spot] = permission }
        }
        return spots
    }

    // MARK: What is asked

    mutating func make(_ spot: SharedSpot, link: Text) {
        shares[spot] = Sharing(link: link)
        links[spot] = link
    }

    mutating func end(_ spot: SharedSpot) { shares[spot] = nil }

    mutating func endZone(_ zone: String) {
        shares = shares.filter { $0.key.zone != zone }
        links = links.filter { $0.key.zone != zone }
    }

    /// The share with somebody invited, or with another permission or role of his. Nobody is invited
    /// where anybody may come.
    func inviting(_ invitation: SharingStep.Invitation, to spot: SharedSpot) -> Sharing? {
        guard var share = shares[spot] else { return nil }
        let user = invitation.user
        if var member = share.members[user] {
            if !member.isPublic {
                member.permission = invitation.permission
                member.isAdministrator = invitation.isAdministrator
            }
            share.members[user] = member
            return share
        }
        guard share.everyone == .none else { return nil }
        share.members[user] = Member(
            isAdministrator: invitation.isAdministrator, permission: invitation.permission)
        share.removed.remove(user)
        return share
    }

    /// Whoever takes himself out may come back.
    func removing(_ user: Int, _ spot: SharedSpot, by editor: Int) -> Sharing? {
        guard var share = shares[spot], share.members[user] != nil else { return nil }
        share.members[user] = nil
        if user != editor { share.removed.insert(user) }
        return share
    }

    /// One that opens drops those who have not accepted; one that closes, all.
    func opening(_ spot: SharedSpot, to permission: SharePermission) -> Sharing? {
        guard var share = shares[spot] else { return nil }
        guard permission != share.everyone else { return share }
        let before = share.everyone
        share.members = share.members.filter { _, member in
            permission != .none && (before != .none || member.isAccepted)
        }
        share.everyone = permission
        return share
    }

    mutating func replace(_ spot: SharedSpot, _ share: Sharing) { shares[spot] = share }

    mutating func leave(_ spot: SharedSpot, _ user: Int) { shares[spot]?.members[user] = nil }

    /// Whether the link lets somebody in.
    func admits(_ user: Int, to spot: SharedSpot) -> Bool {
        guard let share = shares[spot], share.link == links[spot] else { return false }
        if let member = share.members[user] { return share.permission(of: member) != .none }
        return !share.removed.contains(user) && share.everyone != .none
    }

    mutating func accept(_ spot: SharedSpot, _ user: Int) {
        if shares[spot]?.members[user] != nil {
            shares[spot]?.members[user]?.isAccepted = true
        } else {
            shares[spot]?.members[user] = Member(
                isPublic: true, isAccepted: true, permission: .none)
        }
    }
}

extension ShareModel.Sharing {
    /// What the server has of a share.
    init(_ row: ShareRow, users: [UserName: Int]) {
        self.init(everyone: row.publicPermission, link: row.shortGUID)
        for participant in row.present {
            guard let name = participant.user, let user = users[name] else { continue }
            let isPublic = participant.type == .publicUser
            members[user] = ShareModel.Member(
                isPublic: isPublic, isAccepted: participant.status == .accepted,
                isAdministrator: participant.type == .administrator,
                permission: isPublic ? .none : participant.permission)
        }
    }

    /// The same each time.
    var description: String {
        let list = members.sorted { $0.key < $1.key }.map { user, member in
            "\(user) \(member.role) \(member.permission.rawValue) \(member.isAccepted)"
        }
        return "\(everyone.rawValue) \(list)"
    }

    /// Without what is told of nobody.
    var told: Self {
        var share = self
        share.removed = []
        return share
    }
}
