import ArgumentParser
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore

struct SharesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares",
        abstract: "List your shares, the shares of others, and your invitations.",
        discussion: "The list shows the last answer of the server. It works without a network.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each.")
    var json = false

    func run() throws {
        try state.list(nil, json: json) { (store, _) throws(RecordError) in
            var listed: [ListedRecord] = []
            for database in [Database.private, .shared] {
                for zone in try store.zones(in: database) {
                    for share in try store.sharing.shares(in: zone.id) {
                        listed.append(try Self.listed(share, zone, store))
                    }
                }
            }
            return listed
        }
        for invitation in try state.invitations() {
            if json {
                Showing.jsonLine(invitation.json)
            } else {
                Terminal.print(invitation.line)
            }
        }
    }

    private static func listed(
        _ share: Share, _ zone: ZoneInfo, _ store: RecordStore
    ) throws(RecordError) -> ListedRecord {
        let json = try JSONParser.parse(share.text)
        let path = try RecordPath(of: share, in: zone, store)
        return ListedRecord(
            path: path, words: words(of: share, json, zone),
            json: json.adding("path", .text(path.bytes)))
    }

    private static func words(
        of share: Share, _ json: JSONValue, _ zone: ZoneInfo
    ) -> String {
        var words = json.shownMember("title").map { ["\"\($0)\""] } ?? []
        if zone.database == .shared {
            let owner = json["owner"]
            let name = owner?.shownMember("address") ?? owner?.shownMember("user")
            words.append("of \(name ?? "somebody")")
            words.append(share.permission == .readWrite ? "read and write" : "read only")
        } else {
            let people = json["participants"]?.array ?? []
            let joined = people.count { $0.stringMember("status") == "ACCEPTED" }
            words.append(Self.words(joined: joined, invited: people.count - joined))
            if json.stringMember("publicPermission") != "NONE" {
                words.append("anybody with the link")
            }
        }
        return words.joined(separator: ", ")
    }

    /// Returns how many people have a share: `1 has it, 2 are invited`.
    static func words(joined: Int, invited: Int) -> String {
        "\(joined) \(joined == 1 ? "has" : "have") it, "
            + "\(invited) \(invited == 1 ? "is" : "are") invited"
    }
}

extension StateOptions {
    /// Returns the invitations that the account has not accepted yet.
    fileprivate func invitations() throws -> [Invitation] {
        let access = try access()
        let store = try access.reader()
        return try access.reporting { () throws(RecordError) in try store.sharing.invitations() }
    }
}

extension RecordPath {
    /// Creates the path of the shared record, if it is on this machine. Otherwise it is the path of
    /// the zone.
    init(of share: Share, in zone: ZoneInfo, _ store: RecordStore) throws(RecordError) {
        let (database, owner) = (zone.database, zone.owner)
        guard let root = share.root, let record = try store.record(named: root, in: zone.id),
            let type = try store.type(record.type)
        else {
            self.init(database: database, owner: owner, zone: zone.name)
            return
        }
        self.init(
            database: database, owner: owner, zone: zone.name, type: type.name,
            item: .record(record.stem))
    }
}
