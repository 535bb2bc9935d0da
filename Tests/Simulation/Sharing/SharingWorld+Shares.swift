import RecordModel
import RecordStore
import RecordWire
import ServerTestSupport

/// Shares as machines of participants show them at rest.
extension SharingWorld {
    /// Zones and their permissions at a participant, against what the model says.
    func differencesOfShares(on number: Int) throws -> [String] {
        let user = machines[number].user
        var problems: [String] = []
        for zone in zones {
            let spots = model.spots(of: user, in: zone)
            let info = try info(of: zone, number)
            let permission = info.map(\.permission)
            let wanted = Self.permission(of: spots)
            if permission != wanted {
                problems.append(
                    "Machine \(number) may \(words(permission)) in \(zone), and its user "
                        + "\(words(wanted)).")
            }
            guard let info else { continue }
            let shares = try machines[number].replica.store.sharing.shares(in: info.id)
            let names = Set(shares.map(\.name.description))
            if names != Set(spots.keys.map(\.shareName)) {
                problems.append("Machine \(number) has the shares \(names) in \(zone).")
            }
            for share in shares {
                let spot = SharedSpot(zone: zone, root: share.root?.description)
                problems += try differences(of: share, spot, on: number)
            }
        }
        return try problems + differencesOfInvitations(on: number)
    }

    /// What a zone of these shares is for who has them.
    private static func permission(
        of spots: [SharedSpot: SharePermission]
    ) -> ZoneInfo.Permission? {
        if spots.isEmpty { return nil }
        guard spots.values.contains(.readWrite) else { return .readOnly }
        let isWhole = spots.keys.contains { $0.root == nil }
        return !isWhole && spots.values.contains(.readOnly) ? .mixed : .readWrite
    }

    private func words(_ permission: ZoneInfo.Permission?) -> String {
        permission.map { "\($0)" } ?? "nothing"
    }

    /// What a machine says that its user is invited to, against what the model says.
    private func differencesOfInvitations(on number: Int) throws -> [String] {
        let user = machines[number].user
        let wanted = model.shares.values.filter { share in
            guard let member = share.members[user] else { return false }
            return !member.isAccepted && share.permission(of: member) != .none
        }.map(\.link)
        let shown = try machines[number].replica.store.sharing.invitations().map(\.id)
        if Set(shown) == Set(wanted), shown.count == wanted.count { return [] }
        return ["Machine \(number) says that its user is invited to \(shown), not \(wanted)."]
    }

    /// Who is in a share and what he may, as a participant's machine shows it.
    private func differences(
        of share: Share, _ spot: SharedSpot, on number: Int
    ) throws -> [String] {
        guard let wanted = model.shares[spot] else { return [] }
        let text = try JSONParser.parse(share.text)
        let role = wanted.members[machines[number].user]?.role
        let shown = Set((text["participants"]?.array ?? []).map { Self.described($0) })
        let people = wanted.members.map { user, member in
            "\(Self.people[user].user?.description ?? "") \(member.role) "
                + "\(wanted.permission(of: member).rawValue) "
                + (member.isAccepted ? "ACCEPTED" : "INVITED")
        }
        if text["role"]?.string?.string == role, shown == Set(people) { return [] }
        return [
            "Machine \(number) has \(shown) in \(spot), not \(people), or not as \(role ?? "")."
        ]
    }

    private static func described(_ participant: JSONValue) -> String {
        ["user", "type", "permission", "status"]
            .map { participant[$0]?.string?.string ?? "" }.joined(separator: " ")
    }
}
