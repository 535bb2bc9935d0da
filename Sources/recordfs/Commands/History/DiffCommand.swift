import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two moments.",
        discussion: """
            recordfs diff A compares that moment with now, recordfs diff A B two moments: 10m, 2h or \
            3d ago, yesterday 18:00, a date or time, or @TOKEN, the moment after that version. A path \
            after them is all that is compared. Without a moment, the last version is compared with the one before. The \
            exit status is 0 when nothing differs and 1 when something does, as of diff.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Only list the records, with the members that differ.")
    var stat = false
    @Flag(help: "Show lines of the texts, as diff -u has them, and not members.")
    var text = false
    @Flag(help: "Print one JSON object for each record, with a JSON Patch (RFC 6902).")
    var json = false
    @Argument(help: ArgumentHelp("Up to two moments, then a path.", valueName: "moments-and-path"))
    var words: [String] = []

    func run() throws {
        let (moments, path) = try arguments()
        let place = try path?.located(by: state)
        let access = try place?.store ?? state.access()
        let store = try access.reader()
        let spelling = PathSpelling(for: access)
        let form: DifferenceForm = json ? .json : stat ? .summary : text ? .lines : .members
        let count = try access.reporting(path?.text) { () throws(RecordError) -> Int in
            let scope: RestoreScope
            let records: Set<RecordKey>?
            if let place {
                (scope, records) = try store.logPlace(of: place.path)
            } else {
                (scope, records) = (RestoreScope(), nil)
            }
            let last = try store.past.lastToken()
            let differences = try store.past.differences(
                in: scope, of: records, from: moments.first ?? .token(max(0, last - 1)),
                to: moments.dropFirst().first)
            let listing = DifferenceListing(store: store, form: form)
            for difference in differences {
                let path = spelling.spell(try store.path(of: difference.place).bytes)
                try listing.show(
                    String(decoding: path, as: UTF8.self), from: difference.old,
                    to: difference.new)
            }
            return differences.count
        }
        if count > 0 { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    /// Returns the moments and the path among the arguments.
    private func arguments() throws -> ([RestorePoint], PathArgument?) {
        var rest = words[...]
        var moments: [RestorePoint] = []
        while moments.count < 2, let word = rest.first, let moment = RestorePoint(argument: word) {
            // A word is a path, unless a moment has that name.
            if case .named(let name) = moment, try state.access().moment(name) == nil { break }
            moments.append(moment)
            rest = rest.dropFirst()
        }
        guard rest.count <= 1 else {
            throw CommandFailure(
                rest.first, "is no moment. Write up to two moments, then a path.",
                status: ExitStatus.usage)
        }
        return (moments, rest.first.flatMap { PathArgument(argument: $0) })
    }
}
