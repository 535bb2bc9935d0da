import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct DraftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draft",
        abstract: "Work with texts that could not be saved and stay on this machine.",
        subcommands: [DraftListCommand.self, DraftShowCommand.self, DraftDiscardCommand.self])
}

struct DraftListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the drafts, with the error in each.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each draft.")
    var json = false
    @Argument(help: "List only the drafts of this record type.")
    var path: PathArgument?

    func run() throws {
        try state.list(path, json: json) { (store, path) throws(RecordError) in
            let type = try path.map { (path) throws(RecordError) in try store.type(at: path).id }
            return try store.drafts(in: type).map { (draft) throws(RecordError) in
                let path = try Self.path(of: draft, in: store)
                return ListedRecord(
                    path: path, words: "\(draft.error)",
                    json: .members([
                        "path": .text(path.bytes), "since": .text(Showing.time(draft.since)),
                        "error": draft.error.json,
                    ]))
            }
        }
    }

    static func path(
        of draft: Draft, in store: RecordStore
    ) throws(RecordError) -> RecordPath {
        guard let type = try store.type(draft.type), let zone = try store.zone(type.zone) else {
            throw RecordError(.notFound, "the directory of a draft is gone. Try again.")
        }
        return RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: type.name,
            item: .record(draft.stem))
    }
}

struct DraftShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the text of a draft.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let store = try place.store.reader()
        let draft = try place.reporting { () throws(RecordError) in
            let entry = try store.record(at: place.path)
            guard let draft = try store.draft(of: entry.id) else {
                throw RecordError(.notFound, "there is no draft of it.")
            }
            return draft
        }
        Terminal.print(draft.text)
    }
}

struct DraftDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discard the draft of a record; the record does not change.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        try place.store.perform(.discardDraft(place.path), about: path.text)
    }
}
