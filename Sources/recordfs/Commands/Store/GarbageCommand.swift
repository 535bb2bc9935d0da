import ArgumentParser
import RecordControl
import RecordModel

struct GarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Remove old versions and deleted records, and free their space.",
        discussion: """
            A mount does this by itself, a little at a time. Deleted records stay in the trash for \
            30 days. Versions stay for 90 days; the last 10 versions of an existing record stay, \
            whatever their age. So do, for 180 days, changes that were not sent, and what a reader \
            (recordfs readers) has not read, as long as it is used. A store that an earlier version created is rewritten once; from \
            then on it frees space by itself.
            """)

    @OptionGroup var state: StateOptions
    @Flag(
        name: [.customShort("n"), .long], help: "Show what would be removed, and change nothing.")
    var dryRun = false
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let access = try state.access()
        let reply = try access.perform(.collectGarbage(isRehearsal: dryRun), about: nil).result
        if json { return Showing.json(reply) }
        func number(_ key: String) -> Int { Int(clamping: reply.integerMember(key) ?? 0) }
        let what = [
            Showing.count(number("deletedRecords"), "deleted record"),
            Showing.count(number("versions"), "version"),
        ]
        defer { showReaders(reply) }
        if dryRun {
            return Terminal.print("Would remove \(what.joined(separator: " and ")).")
        }
        let files = Showing.count(number("assetFiles"), "asset file")
        Terminal.print("Removed \((what + [files]).joined(separator: ", ")).")
        let (before, after) = (number("bytesBefore"), number("bytesAfter"))
        Terminal.print(
            "The store has \(Showing.size(Int64(after))); it had \(Showing.size(Int64(before))).")
    }

    /// Shows which readers of the history keep old versions.
    private func showReaders(_ reply: JSONValue) {
        for reader in reply["readers"]?.array ?? [] {
            guard let versions = reader.integerMember("versions"), versions > 0 else { continue }
            Terminal.print(
                "The reader \(reader.stringMember("name") ?? "") keeps "
                    + "\(Showing.count(versions, "old version")) that it has not read, "
                    + "\(Showing.size(reader.integerMember("size") ?? 0)) (recordfs readers)")
        }
    }
}
