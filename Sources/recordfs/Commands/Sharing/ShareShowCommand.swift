import ArgumentParser
import RecordControl
import RecordModel
import RecordWire

struct ShareShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the participants of a share.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let share = try place.ask(.show(place.path))
        guard !json else { return Showing.json(share) }
        let everyone = share.stringMember("publicPermission") ?? ""
        Terminal.print("\(share.shownMember("title") ?? "")  \(share.stringMember("url") ?? "")")
        for line in Self.appearance(of: share) { Terminal.print(line) }
        var rows = [["WHO", "MAY", "STATE"]]
        if let owner = share["owner"] {
            rows.append([ShareWords.name(of: owner), "everything", "owner"])
        }
        for participant in share["participants"]?.array ?? [] {
            rows.append([
                ShareWords.name(of: participant),
                ShareWords.access(participant.stringMember("permission") ?? "")
                    + (participant.stringMember("type") == "ADMINISTRATOR" ? ", invite" : ""),
                (participant.stringMember("status") ?? "").lowercased(),
            ])
        }
        if everyone != SharePermission.none.rawValue {
            rows.append(["anybody with the link", ShareWords.access(everyone), ""])
        }
        Terminal.printTable(rows)
    }

    private static func appearance(of share: JSONValue) -> [String] {
        var lines: [String] = []
        if let type = share.shownMember("type") { lines.append("type: \(type)") }
        if let thumbnail = share["thumbnail"] {
            let size = Showing.size(thumbnail.integerMember("size") ?? 0)
            let kind = thumbnail.stringMember("type") ?? "of no kind that is shown"
            lines.append("thumbnail: \(kind), \(size)")
        }
        return lines
    }
}

struct ShareURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the link of a share.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let link = try place.ask(.show(place.path)).stringMember("url") ?? ""
        if json {
            Showing.json(.members(["path": .text(place.path.bytes), "url": .text(link)]))
        } else {
            Terminal.print(link)
        }
    }
}
