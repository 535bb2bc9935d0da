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
            whatever their age. A store that an earlier version created is rewritten once; from \
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
        if dryRun {
            return Terminal.print("Would remove \(what.joined(separator: " and ")).")
        }
        let files = Showing.count(number("assetFiles"), "asset file")
        Terminal.print("Removed \((what + [files]).joined(separator: ", ")).")
        let (before, after) = (number("bytesBefore"), number("bytesAfter"))
        Terminal.print(
            "The store has \(Showing.size(Int64(after))); it had \(Showing.size(Int64(before))).")
    }
}
