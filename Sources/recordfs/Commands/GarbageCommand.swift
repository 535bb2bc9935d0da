import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct GarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc", abstract: "Remove what has outlived its time, and give the space back.",
        discussion: """
            A mount does so by itself, a little at a time. Deleted records stay in the trash for 30 \
            days. Versions stay for 90 days; of a record that is there the last 10 stay, whatever \
            their age. A store that an earlier version made is written anew once, and gives space \
            back by itself from then on.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: [.customShort("n"), .long], help: "Say what would be removed, and change nothing.")
    var dryRun = false
    @Flag(help: "As one JSON object.")
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
