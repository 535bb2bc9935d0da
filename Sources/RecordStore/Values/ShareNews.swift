package import RecordModel

/// News about a share, which users receive without doing anything themselves.
package struct ShareNews: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A person who was invited, or who has the link, now has access.
        case accepted
        /// A person no longer has access, by their own choice or the owner's.
        case left
        /// A person without access is no longer invited, by their own choice or another person's.
        case declined
        /// Somebody asks for access.
        case requested
        /// Records that others shared are no longer here.
        case ended
        /// Edits of this user that were not sent before a share ended are in the trash.
        case unsent
        /// This account has deleted the root of a share, and the share has ended with it. The
        /// root's children stay.
        case unshared
        /// Somebody wants to share something with this account.
        case invited
    }

    package let kind: Kind
    /// An address, a name or a user. Empty for `ended`, `unsent` and `unshared`.
    package let who: String
    /// The number of records, for `unsent` and `unshared`; otherwise 0.
    package let count: Int
    /// The shared record, for news about a share that is not of a whole zone.
    package private(set) var root: RecordName?
    /// The children of the root, or the first of them, for `unshared`.
    package private(set) var unshared: UnsharedRecords?
    /// The invitation, for `invited`.
    package let invitation: Invitation?

    package init(_ kind: Kind, who: String = "", root: RecordName? = nil) {
        self.kind = kind
        self.who = who
        self.root = root
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
        root = records.root
        unshared = records
        invitation = nil
    }

    package init(invited invitation: Invitation) {
        kind = .invited
        who = invitation.owner
        count = 0
        self.invitation = invitation
    }

    /// Returns the news in the text of a share, as `Share.text` has it, since an earlier text.
    ///
    /// - Parameter root: the record that is shared. Nil for the whole zone.
    package static func between(
        _ old: [UInt8], _ new: [UInt8], root: RecordName? = nil
    ) throws(RecordError) -> [ShareNews] {
        let (before, after) = (try JSONParser.parse(old), try JSONParser.parse(new))
        let (had, have) = (
            people(before["participants"], "ACCEPTED"), people(after["participants"], "ACCEPTED")
        )
        let (asked, ask) = (people(before["requests"]), people(after["requests"]))
        let all = people(after["participants"])
        let invited = people(before["participants"], "INVITED")
        let news: [(Kind, [String])] = [
            (.accepted, have.filter { !had.contains($0) }),
            (.left, had.filter { !have.contains($0) }),
            (.declined, invited.filter { !all.contains($0) }),
            (.requested, ask.filter { !asked.contains($0) }),
        ]
        return news.flatMap { kind, people in
            people.map { ShareNews(kind, who: $0, root: root) }
        }
    }

    /// Returns the names of the people in a list.
    ///
    /// - Parameter status: the status of these people; nil for any status.
    private static func people(_ list: JSONValue?, _ status: Text? = nil) -> [String] {
        (list?.array ?? []).filter { status == nil || $0["status"]?.string == status }
            .map(name(of:))
    }

    /// Returns the name by which people know a person in the text of a share.
    static func name(of person: JSONValue?) -> String {
        let name = person?["address"] ?? person?["name"] ?? person?["user"]
        return name?.string?.string ?? "somebody"
    }
}

/// The records that are left of a shared hierarchy after its owner has deleted the root. They are
/// in no share and still belong to the owner.
package struct UnsharedRecords: Hashable, Sendable {
    package let zone: ZoneID
    package let root: RecordName
    /// The first of these records, in the server's order.
    package let children: [RecordName]
    /// The time at which the server reported it.
    package let at: Timestamp

    /// The names of the records, for people.
    package var list: String { children.map(\.description).joined(separator: ", ") }
}
