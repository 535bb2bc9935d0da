package import RecordModel

/// What people hear of a share without having done anything themselves.
package struct ShareNews: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Somebody who was invited, or has the link, has it now.
        case accepted
        /// Somebody has it no longer by own choice or the owner's.
        case left
        /// Somebody was invited and is no longer, by own choice or another's, and did not have it.
        case declined
        /// Somebody asks for access.
        case requested
        /// What others share is here no longer.
        case ended
        /// Edits of this user that were not sent before a share ended are in the trash.
        case unsent
        /// This account has deleted the root of a share, which has ended with it: what hung on it stays.
        case unshared
        /// Somebody wants to share something with this account.
        case invited
    }

    package let kind: Kind
    /// An address, a name or a user; empty for `ended`, `unsent` and `unshared`.
    package let who: String
    /// For `unsent` and `unshared`: of how many records; else 0.
    package let count: Int
    /// For `unshared`: the records that hung on the root, or the first of them.
    package private(set) var unshared: UnsharedRecords?
    /// For `invited`: to what.
    package let invitation: Invitation?

    package init(_ kind: Kind, who: String = "") {
        self.kind = kind
        self.who = who
        count = 0
        invitation = nil
    }

    package init(unsent count: Int) {
        kind = .unsent
        who = ""
        self.count = count
        invitation = nil
    }

    package init(unshared records: UnsharedRecords) {
        kind = .unshared
        who = ""
        count = records.children.count
        unshared = records
        invitation = nil
    }

    package init(invited invitation: Invitation) {
        kind = .invited
        who = invitation.owner
        count = 0
        self.invitation = invitation
    }

    /// What is new in the text of a share, as `Share.text` has it, since an earlier one.
    package static func between(_ old: [UInt8], _ new: [UInt8]) throws(RecordError) -> [ShareNews] {
        let (before, after) = (try JSONParser.parse(old), try JSONParser.parse(new))
        let (had, have) = (
            people(before["participants"], "ACCEPTED"), people(after["participants"], "ACCEPTED")
        )
        let (asked, ask) = (people(before["requests"]), people(after["requests"]))
        let all = people(after["participants"])
        return have.filter { !had.contains($0) }.map { ShareNews(.accepted, who: $0) }
            + had.filter { !have.contains($0) }.map { ShareNews(.left, who: $0) }
            + people(before["participants"], "INVITED").filter { !all.contains($0) }
            .map { ShareNews(.declined, who: $0) }
            + ask.filter { !asked.contains($0) }.map { ShareNews(.requested, who: $0) }
    }

    /// - Parameter status: nil for whatever it is.
    private static func people(_ list: JSONValue?, _ status: Text? = nil) -> [String] {
        (list?.array ?? []).filter { status == nil || $0["status"]?.string == status }
            .map(name(of:))
    }

    /// What people know somebody by whom the text of a share names.
    static func name(of person: JSONValue?) -> String {
        let name = person?["address"] ?? person?["name"] ?? person?["user"]
        return name?.string?.string ?? "somebody"
    }
}

/// What is left of a shared hierarchy whose root its owner has deleted: in no share, and his as before.
package struct UnsharedRecords: Hashable, Sendable {
    package let zone: ZoneID
    package let root: RecordName
    /// The first of them, by the server's order.
    package let children: [RecordName]
    /// When the server said so.
    package let at: Timestamp

    /// For people.
    package var list: String { children.map(\.description).joined(separator: ", ") }
}
