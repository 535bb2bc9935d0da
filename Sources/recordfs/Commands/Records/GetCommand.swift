import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a record, or the bytes of a large field.")

    @OptionGroup var state: StateOptions
    @Option(name: .shortAndLong, help: "Write to this file instead of standard output.")
    var output = "-"
    @Flag(help: "Print the system values of the record as JSON, instead of its fields.")
    var meta = false
    @Argument(help: "The record, DATABASE/ZONE/TYPE/NAME, or a large field, ...NAME@FIELD.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let target = place.path
        let store = try place.store.reader()
        try place.reporting { () throws(RecordError) in
            let entry = try store.record(at: target)
            if case .asset = target.item {
                try copyAsset(try store.asset(at: target), of: store)
            } else if meta {
                try print(
                    meta: try store.meta(of: entry.id),
                    problems: try store.model.problems(of: entry.id))
            } else {
                guard let text = try store.savedText(of: entry.id) else {
                    throw RecordError(
                        .notFound,
                        "there is only a draft of it. recordfs draft show \(target) prints it.")
                }
                try writeWholeFile(text, to: output)
            }
        }
    }

    private func copyAsset(
        _ asset: AssetEntry?, of store: RecordStore
    ) throws(RecordError) {
        guard let asset else { throw RecordError(.notFound, "the record has no such field.") }
        // A long text or bytes value is in the record itself.
        if let value = try store.assets.inlineValue(of: asset) {
            return try writeWholeFile(value, to: output)
        }
        guard let hash = asset.hash, asset.isDownloaded else {
            throw RecordError(.unavailable, "its bytes are not on this machine.")
        }
        try store.assets.checkAsset(hash, size: asset.size)
        try copyFile(store.assets.assetPath(hash), to: output)
    }

    private func print(meta: RecordMeta?, problems: [String]) throws(RecordError) {
        guard let meta else { throw RecordError(.notFound, "there is no such record.") }
        let value = JSONValue.members([
            "name": .name(meta.name),
            "created": .text(Showing.time(meta.created)),
            "createdBy": .text(meta.createdBy),
            "modified": .text(Showing.time(meta.modified)),
            "modifiedBy": .text(meta.modifiedBy),
            "changeTag": .text(meta.changeTag),
            "generation": .integer(meta.generation),
            "pending": .bool(meta.isPending),
            "problems": problems.isEmpty ? nil : .array(problems.map { .text($0) }),
        ])
        try writeWholeFile(value.serialized(pretty: true) + [0x0A], to: output)
    }
}
