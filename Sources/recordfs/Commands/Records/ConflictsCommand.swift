import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct ConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show and settle edits that lost to an edit on another machine.",
        discussion: """
            When two machines change the same field of a record, the later edit wins. The other \
            edit is kept until you settle the conflict, here or in .recordfs/conflicts of the \
            mount. A record that was removed since then has no merged.json there: conflicts \
            resolve with --keep mine or theirs brings it back, --keep merged leaves it removed.
            """,
        subcommands: [
            ConflictsListCommand.self, ConflictsShowCommand.self, ConflictsResolveCommand.self,
        ])
}

struct ConflictsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the conflicts that are not settled.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each conflict.")
    var json = false
    @Argument(help: "List only the conflicts of this record, type, zone or database.")
    var path: PathArgument?

    func run() throws {
        try state.list(path, json: json) { (store, path) throws(RecordError) in
            try store.conflicts(at: path ?? RecordPath()).map { (conflict) throws(RecordError) in
                let path = try store.path(of: conflict)
                var what = try conflict.summary(in: store)
                if try store.syncState.isGone(conflict) { what += ", removed here since" }
                return ListedRecord(
                    path: path, words: "\(what), \(Showing.time(conflict.at))",
                    json: conflict.json(path, what, in: store))
            }
        }
    }
}

/// One conflict of a record.
struct ConflictOptions: ParsableArguments {
    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Option(help: "The number of the conflict, from list --json; by default the newest.")
    var number: Int64?
    @Argument(help: "The record.")
    var path: PathArgument

    func find() throws -> (conflict: Conflict, place: LocatedPath, store: RecordStore) {
        let place = try path.located(by: state)
        let store = try place.store.reader()
        let conflict = try place.reporting { () throws(RecordError) in
            try store.lastConflict(at: place.path, number)
        }
        return (conflict, place, store)
    }
}

struct ConflictsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print both sides of a conflict.")

    @OptionGroup var options: ConflictOptions
    @Option(help: "Print only the text of one side: base, mine or theirs.")
    var side: SideArgument?

    func run() throws {
        let (conflict, place, store) = try options.find()
        let text = try place.reporting { () throws(RecordError) in
            guard let side else { return Array(try ConflictReport(conflict, of: store).text.utf8) }
            guard let text = try store.syncState.text(of: side.side, in: conflict) else {
                throw RecordError(.notFound, "\(side.rawValue) has no text: it had no record.")
            }
            return text
        }
        Terminal.print(text)
    }
}

struct ConflictsResolveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Settle a conflict: keep the record, take one side, or merge.",
        discussion: """
            A tool is one of \(MergeTool.known.keys.sorted().joined(separator: ", ")), or a shell \
            command that finds the files in $BASE, $LOCAL, $REMOTE and $MERGED, as with git \
            mergetool. The text that it leaves in $MERGED is saved. When that text is unchanged, \
            or the tool fails, the conflict stays.
            """)

    @OptionGroup var options: ConflictOptions
    @Option(help: "The content to keep: merged (the record as it is now), mine or theirs.")
    var keep: KeepArgument?
    @Option(help: "The program to merge with.")
    var tool: String?

    func validate() throws {
        if (keep == nil) == (tool == nil) {
            throw ValidationError("Say how: --keep merged, mine or theirs, or --tool TOOL.")
        }
    }

    func run() throws {
        let (conflict, place, store) = try options.find()
        func settle(_ settlement: Settlement) throws {
            try place.store.perform(
                .settleConflict(place.path, conflict.id, settlement), about: place.text)
        }
        guard let tool else { return try settle(keep?.settlement ?? .merged) }
        try MergeTool(tool).merge(conflict, of: store, place, settle)
    }
}

enum SideArgument: String, ExpressibleByArgument, CaseIterable {
    case base, mine, theirs

    var side: Conflict.Side {
        switch self {
        case .base: .base
        case .mine: .mine
        case .theirs: .theirs
        }
    }
}

enum KeepArgument: String, ExpressibleByArgument, CaseIterable {
    case merged, mine, theirs

    var settlement: Settlement {
        switch self {
        case .merged: .merged
        case .mine: .side(.mine)
        case .theirs: .side(.theirs)
        }
    }
}

extension RecordStore {
    /// Returns the conflict of a record with a number, or the newest.
    fileprivate func lastConflict(
        at path: RecordPath, _ number: Int64?
    ) throws(RecordError) -> Conflict {
        guard path.stem != nil else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let found = try conflicts(at: path).first { number == nil || $0.id == number }
        guard let conflict = found else {
            throw RecordError(
                .notFound, "it has no such conflict. recordfs conflicts list shows which have.")
        }
        return conflict
    }
}

extension Conflict {
    /// Returns a summary, such as `servings (theirs wins), title (mine wins)`.
    fileprivate func summary(in store: RecordStore) throws(RecordError) -> String {
        guard fields.isEmpty else {
            let (fields, theirs) = (shown(fields, in: store), shown(theirsStood, in: store))
            return fields.map { "\($0) (\(theirs.contains($0) ? "theirs" : "mine") wins)" }
                .joined(separator: ", ")
        }
        if try store.syncState.isRefusedDeletion(self) {
            return "deleted here, kept by the server for others that need it"
        }
        return try store.syncState.text(of: .mine, in: self) == nil
            ? "deleted here, edited elsewhere" : "edited here, deleted elsewhere"
    }

    private func shown(_ fields: [FieldName], in store: RecordStore) -> [FieldName] {
        store.model.shownNames(of: fields, in: type)
    }

    fileprivate func json(
        _ path: RecordPath, _ summary: String, in store: RecordStore
    ) -> JSONValue {
        .members([
            "path": .text(path.bytes), "number": .integer(id), "time": .text(Showing.time(at)),
            "what": .text(summary), "fields": .array(shown(fields, in: store).map { .name($0) }),
            "theirsStood": .array(shown(theirsStood, in: store).map { .name($0) }),
            "theirUser": theirUser.isEmpty ? .null : .text(theirUser),
            "theirTime": theirTime.map { .text(Showing.time($0)) } ?? .null,
        ])
    }
}
