import RecordControl
import RecordModel
import RecordSync
import RecordWire

/// The access that a command would take from people, for people and for programs.
struct ShareRehearsal {
    enum What {
        case stop, leave
        case change(ShareEdit)

        /// The edit. It is nil for the end of a share.
        var edit: JSONValue? {
            if case .change(let edit) = self { edit.json } else { nil }
        }
    }

    private let what: What
    private let path: RecordPath
    /// The server's answer in the form of `SharePreview.json`.
    private let told: JSONValue

    init(_ what: What, _ path: RecordPath, _ told: JSONValue) {
        self.what = what
        self.path = path
        self.told = told
    }

    func json(isRehearsal: Bool) -> JSONValue {
        let head: JSONValue = ["path": .text(path.bytes), "dryRun": .bool(isRehearsal)]
        return .object((head.object ?? []) + (told.object ?? []))
    }

    /// Returns lines for a person. The first is a complete summary.
    ///
    /// - Parameter path: the path as the user wrote it.
    func lines(path: String) -> [String] {
        let lost = losses.isEmpty ? [] : losses + [Self.unsentElsewhere]
        switch what {
        case .stop:
            return ["\(path) would no longer be shared. \(sum)"] + lost
                + ["These stay here: \(amount(told["stays"]))."]
        case .leave: return ["You would lose access to \(path)."] + goes
        case .change: return ["\(path) stays shared. \(sum)"] + lost
        }
    }

    private static let unsentElsewhere =
        "Their unsent changes move to their own trash."

    private var people: [JSONValue] { told["loses"]?.array ?? [] }

    private var sum: String {
        switch people.count {
        case 0:
            losses.isEmpty ? "Nobody would lose access." : "No participant would lose it, but:"
        case 1: "1 person would lose access:"
        case let count: "\(Showing.grouped(count)) people would lose access:"
        }
    }

    private var losses: [String] {
        var lines = people.map { person in
            let isInvited = person.stringMember("status") == "INVITED"
            let may = ShareWords.access(person.stringMember("permission") ?? "")
            return "  \(ShareWords.name(of: person)), who "
                + (isInvited ? "is invited" : "may \(may)")
        }
        if told["linkCloses"]?.bool == true { lines.append("  anybody else with the link") }
        let links = told["linksEnd"]?.array ?? []
        if !links.isEmpty {
            lines.append(
                "  anybody with \(Showing.count(links.count, "link")) for one person: "
                    + links.compactMap { $0.string?.string }.joined(separator: " "))
        }
        return lines
    }

    /// The lines for a user who leaves a share.
    private var goes: [String] {
        let goes = told["goes"]
        var lines = ["This account would lose: \(amount(goes))."]
        if let unsent = goes?.integerMember("unsent"), unsent > 0 {
            lines.append(
                "\(Showing.count(unsent, "record")) with unsent edits: these edits move to the "
                    + "trash. To send them first, run recordfs sync.")
        }
        if let drafts = goes?.integerMember("drafts"), drafts > 0 {
            lines.append(
                "\(Showing.count(drafts, "text")) that could not be saved: your changes in them move to "
                    + "the trash too. To correct them first, run recordfs draft list.")
        }
        let owner = told["owner"].map(ShareWords.name) ?? "Its owner"
        lines.append("\(owner) keeps all records, with the changes that you have sent.")
        return lines
    }

    private func amount(_ extent: JSONValue?) -> String {
        Showing.count(extent?.integerMember("records") ?? 0, "record") + ", "
            + Showing.size(extent?.integerMember("size") ?? 0)
    }
}
