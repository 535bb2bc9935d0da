import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct ReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Work with the programs that read the history with a saved token.",
        discussion: """
            recordfs events --reader NAME prints what came since its last use, and saves how far it \
            has read. What a reader has not read stays in the history. A reader that is not used for \
            90 days keeps nothing any more.
            """,
        subcommands: [ReadersListCommand.self, ReadersRemoveCommand.self],
        defaultSubcommand: ReadersListCommand.self)
}

struct ReadersListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the readers, and the old versions that each keeps.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each reader.")
    var json = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let held = try access.reporting { () throws(RecordError) in
            try store.upkeep.versionsOfReaders()
        }
        if json {
            for reader in held { Showing.jsonLine(reader.json) }
        } else if !held.isEmpty {
            let rows = held.map {
                [
                    $0.reader.name.text, "\($0.reader.token)", Showing.time($0.reader.used),
                    $0.reader.isExpired
                        ? "expired" : "\(Showing.grouped($0.versions)), \(Showing.size($0.bytes))",
                ]
            }
            Terminal.printTable(
                [["READER", "TOKEN", "LAST USE", "KEEPS OLD VERSIONS"]] + rows, rightAligned: [1])
        }
    }
}

struct ReadersRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a reader and how far it has read.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The name of the reader.")
    var name: HistoryReader.Name

    func run() throws {
        try state.access().perform(.removeReader(name), about: name.text)
    }
}

extension HeldVersions {
    /// The sentence about a reader that keeps something.
    var line: String {
        "The reader \(reader.name) keeps \(Showing.count(versions, "old version")) that it has not read, "
            + "\(Showing.size(bytes)) (recordfs readers)"
    }
}

extension HistoryReader.Name: ExpressibleByArgument {
    /// Reads an argument: a valid name.
    public init?(argument: String) {
        do throws(RecordError) {
            try self.init(argument)
        } catch {
            return nil
        }
    }
}

/// The place up to which a reader has read, while a command reads on.
struct ReaderPlace {
    /// A reader that reads nothing is noted as used once in this time.
    private static let pause = Duration.seconds(3600)

    let access: StoreAccess
    let name: HistoryReader.Name
    /// Indicates whether the place stays as it is.
    let peeks: Bool
    private var saved: HistoryReader?
    private(set) var token: Int64

    /// Finds the place.
    ///
    /// - Parameter start: the token at which the reader begins anew.
    /// Errors: stale for a reader that was not used for too long; those of saving.
    init(
        _ name: HistoryReader.Name, in access: StoreAccess, _ store: RecordStore,
        from start: Int64?,
        peeks: Bool
    ) throws {
        (self.access, self.name, self.peeks) = (access, name, peeks)
        let saved = try access.reporting { () throws(RecordError) in
            try store.past.reader(name)
        }
        if let saved, saved.isExpired, start == nil {
            throw CommandFailure(access.subject(name.text), Self.expired(saved))
        }
        self.saved = saved
        token = start ?? saved?.token ?? 0
        // The changes that this reader has not read stay from now on; and a reader too many is refused before
        // it has printed anything.
        if saved == nil || start != nil { try save(token) }
    }

    private static func expired(_ reader: HistoryReader) -> RecordError {
        RecordError(
            .stale,
            "the reader has expired: it was not used for 90 days, and changes that it has not read "
                + "may be gone. Read the records themselves, then go on with recordfs events --reader "
                + "\(reader.name) --after TOKEN; 0 stands for all changes that are kept.")
    }

    /// Saves how far the reader has read, when the output was written.
    mutating func save(_ token: Int64) throws {
        self.token = token
        guard !peeks else { return }
        if let saved, saved.token == token, !saved.isExpired,
            SystemClock().now - Self.pause < saved.used
        {
            return
        }
        try access.perform(
            .saveReader(name, token: token, known: saved?.token), about: name.text)
        saved = HistoryReader(name: name, token: token, used: SystemClock().now, isExpired: false)
    }
}
