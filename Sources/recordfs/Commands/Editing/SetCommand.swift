import ArgumentParser
import RecordControl
import RecordModel

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Give members of records other values.",
        usage: "recordfs set [OPTIONS] PATH... NAME=TEXT | NAME:=JSON ...",
        discussion: """
            NAME=TEXT sets a text; NAME:=JSON sets a number, true, false, a list or an object, and \
            NAME:=null removes the member. NAME.KEY=TEXT reaches into nested JSON. Every other byte \
            of the file stays. All records change in one transaction, or none does, so one \
            recordfs undo takes it back.

            recordfs set private/Kitchen/Recipe/soup title='Leek soup' servings:=6 --if servings:=4
            recordfs set ~/RecordFS/private/Kitchen/Recipe/*.json checked:=true
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Option(
        name: .customLong("if"),
        help: ArgumentHelp(
            "Change nothing unless every record has this value now; NAME:=null is no value.",
            valueName: "NAME=TEXT"))
    var conditions: [Assignment] = []
    @Option(
        help: ArgumentHelp(
            "Apply the JSON merge patch (RFC 7396) of a file; - is standard input.",
            valueName: "file"),
        completion: .file())
    var patch: String?
    @Flag(name: [.customShort("n"), .long], help: "Show what would change, and change nothing.")
    var dryRun = false
    @Flag(name: .shortAndLong, help: "Print what has changed.")
    var verbose = false
    @Argument(help: "Records or their files, and the members to set.")
    var words: [String]

    private var paths: [PathArgument] {
        words.filter { !Assignment.isAssignment($0) }.map { PathArgument(argument: $0) }
    }

    func validate() throws {
        guard !paths.isEmpty else {
            throw ValidationError("Name a record: recordfs set PATH NAME=TEXT.")
        }
        let assignments = try assignments()
        guard assignments.isEmpty == (patch != nil) else {
            throw ValidationError(
                patch == nil
                    ? "Say what to set: NAME=TEXT, or NAME:=JSON."
                    : "Either --patch or NAME=TEXT, not both.")
        }
        _ = try Assignment.patch(of: assignments)
        _ = try Assignment.patch(of: conditions)
    }

    private func assignments() throws(ValidationError) -> [Assignment] {
        try words.filter(Assignment.isAssignment).map { (word) throws(ValidationError) in
            guard let assignment = Assignment(argument: word) else {
                throw ValidationError(
                    "\(word): what stands after := is no JSON. For a text write NAME=TEXT.")
            }
            return assignment
        }
    }

    func run() throws {
        let places = try paths.map { (path) throws(CommandFailure) in
            try path.located(by: state)
        }
        guard let store = places.first?.store,
            places.allSatisfy({ HostDirectory.isSame($0.store.directory, store.directory) })
        else { throw CommandFailure(nil, "the paths are of several stores; one at a time.") }
        let request = EditRequest.patch(
            places.map(\.path), try wanted(),
            condition: try condition(), isRehearsal: dryRun)
        let reply = try store.perform(
            .edit(request), about: places.count == 1 ? places[0].text : nil)
        guard dryRun || verbose else { return }
        let spelling = PathSpelling(for: store)
        for record in reply.result["records"]?.array ?? [] {
            let path = spelling.spell(record["path"]?.string?.utf8 ?? [])
            Terminal.print(path + Array(": \(Self.words(about: record))\n".utf8))
        }
    }

    private func wanted() throws -> JSONValue {
        guard let patch else { return try Assignment.patch(of: try assignments()) }
        return try reporting(patch) { () throws(RecordError) in
            try JSONParser.parse(try readWholeFile(patch))
        }
    }

    private func condition() throws(ValidationError) -> JSONValue? {
        // Without a condition it is no value, and not null.
        guard !conditions.isEmpty else { return Optional.none }
        return try Assignment.patch(of: conditions)
    }

    private static func words(about record: JSONValue) -> String {
        let outcome = record.stringMember("outcome") ?? ""
        let fields = (record["fields"]?.array ?? []).compactMap { $0.string?.string }
        return fields.isEmpty ? outcome : "\(outcome) (\(fields.joined(separator: ", ")))"
    }
}
