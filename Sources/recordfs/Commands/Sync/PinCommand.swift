import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keep the large fields of a zone, type or record on this machine.",
        discussion: """
            The large fields are downloaded before you read them, also those of new records. They \
            stay whatever the limit of the others is (mount -o cache=). The pin of a record ends \
            when the record is deleted, or renamed on another machine.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "List the pins, and the part of each that is not downloaded yet.")
    var list = false
    @Flag(help: "With --list: print one JSON object for each pin.")
    var json = false
    @Argument(help: "The zone, record type or record to pin.")
    var paths: [PathArgument] = []

    func validate() throws {
        if list != paths.isEmpty {
            throw ValidationError("Name what to pin, or give --list alone.")
        }
        if json, !list { throw ValidationError("--json goes with --list.") }
    }

    func run() throws {
        guard list else {
            for path in paths {
                let place = try path.located(by: state)
                try place.store.perform(.pin(place.path, true), about: path.text)
            }
            return
        }
        try state.list(nil, json: json) { (store, _) throws(RecordError) in
            try store.assets.pins().map { (pin) throws(RecordError) in
                guard let path = try pin.path(in: store) else {
                    throw RecordError(.notFound, "a zone that is pinned is gone. Try again.")
                }
                return ListedRecord(path: path, words: pin.words, json: pin.json(path))
            }
        }
    }

    /// Returns how much of a pinned place is here: `2 of 3 files are to come, 12.3 KiB`.
    static func words(files: Int64, missingFiles: Int64, missingBytes: Int64) -> String {
        let all = Showing.count(files, "file")
        guard missingFiles > 0 else { return files == 1 ? "\(all) is here" : "all \(all) are here" }
        return "\(missingFiles) of \(all) \(missingFiles == 1 ? "is" : "are") to come, "
            + "\(Showing.size(missingBytes))"
    }
}

struct UnpinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "End a pin. Its files stay as long as there is space.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The pinned zone, record type or record.")
    var paths: [PathArgument]

    func run() throws {
        for path in paths {
            let place = try path.located(by: state)
            try place.store.perform(.pin(place.path, false), about: path.text)
        }
    }
}

extension Pin {
    /// Returns the path. Returns nil when its zone was deleted since.
    func path(in store: RecordStore) throws(RecordError) -> RecordPath? {
        guard let info = try store.zone(zone) else { return nil }
        return RecordPath(
            database: info.database, owner: info.owner, zone: info.name, type: type,
            item: stem.map { .record($0) })
    }

    var words: String {
        PinCommand.words(files: files, missingFiles: missingFiles, missingBytes: missingBytes)
    }

    fileprivate func json(_ path: RecordPath) -> JSONValue {
        .members([
            "path": .text(path.bytes), "files": .integer(files),
            "missingFiles": .integer(missingFiles), "missingBytes": .integer(missingBytes),
        ])
    }
}
