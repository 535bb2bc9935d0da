import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct BlameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Show for each member of a record who has changed it last, and when.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each member.")
    var json = false
    @Argument(help: "The record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let store = try place.store.reader()
        try place.reporting { () throws(RecordError) in
            let entry = try store.record(at: place.path)
            let members = try Self.members(of: try store.savedText(of: entry.id) ?? [])
            let versions = try store.versions(at: place.path)
            var rows: [[String]] = []
            for member in members {
                let version = Self.last(versions, changing: member.key, store)
                if json {
                    Showing.jsonLine(Self.json(member, version))
                    continue
                }
                let text = String(decoding: member.value.serialized(), as: UTF8.self).onOneLine
                rows.append([
                    Colour.token.of(version.map { "@\($0.token)" } ?? "-"),
                    version.map { Showing.localTime($0.at) } ?? "",
                    version?.shownAuthor ?? "", "\(member.key.description.onOneLine): \(text)",
                ])
            }
            Terminal.printTable(rows)
        }
    }

    private static func members(of text: [UInt8]) throws(RecordError) -> [JSONMember] {
        guard case .object(let members) = try JSONParser.parse(text) else { return [] }
        return members
    }

    /// Returns the last version that has changed a member. The first one has made all others.
    private static func last(
        _ versions: [Version], changing member: Text, _ store: RecordStore
    ) -> Version? {
        versions.last { version in
            store.model.shownNames(of: version.fields, in: version.type).contains {
                $0.bytes.elementsEqual(member.utf8)
            }
        } ?? versions.first
    }

    private static func json(_ member: JSONMember, _ version: Version?) -> JSONValue {
        .members([
            "member": .text(member.key.description), "value": member.value,
            "token": version.map { .integer($0.token) } ?? .null,
            "time": version.map { .text(Showing.time($0.at)) } ?? .null,
            "author": version.map { .text($0.shownAuthor) } ?? .null,
        ])
    }
}
