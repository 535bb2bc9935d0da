import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync

struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Sign out of the record server.",
        discussion: """
            The records stay here. Unsent changes wait, and are sent when the same account signs \
            in again. The server no longer accepts this sign-in, nor a copy of it. When the server \
            cannot be reached, the command says so and signs out here: end the sign-in on the \
            server's page /sessions then.
            """)

    @OptionGroup var state: StateOptions

    func run() throws {
        let access = try state.access()
        let file = AccountFile(stateDirectory: access.directory)
        var last: Account?
        try access.reporting { () throws(RecordError) in
            _ = try file.update { (account) throws(RecordError) in
                guard let current = account, current.isSignedIn else { return }
                last = current
                // The owner of these records stays known: no other account gets them.
                account?.webAuthToken = ""
            }
        }
        try LoginCommand.accountHasChanged(access, last)
        Terminal.print(last.map { "Signed out of \($0.server)." } ?? "Nobody was signed in.")
    }
}

struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Fetch and send now, and wait until both are done.",
        discussion: "When something could not be fetched or sent, the command fails and prints it.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws { try ExchangeAnswer(state, .sync).show(asJSON: json) }
}

struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send the refused changes again.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws { try ExchangeAnswer(state, .retry).show(asJSON: json) }
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop fetching and sending until recordfs resume.")

    @OptionGroup var state: StateOptions

    func run() throws { _ = try ExchangeAnswer(state, .pause) }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Start fetching and sending again.")

    @OptionGroup var state: StateOptions

    func run() throws { _ = try ExchangeAnswer(state, .resume) }
}

/// The answer of the daemon after a request about the exchange with the server.
private struct ExchangeAnswer {
    private let status: JSONValue
    private let access: StoreAccess

    /// The longest time that a first download of a large account may take.
    private static let patienceSeconds = 3_600

    init(_ state: StateOptions, _ verb: ControlVerb) throws {
        let access = try state.access()
        self.access = access
        status = try access.reporting { () throws(RecordError) in
            let daemon = try ControlClient.connect(
                directory: access.directory, timeoutSeconds: Self.patienceSeconds)
            guard let daemon else {
                throw RecordError(
                    .unsupported, "there is no daemon to \(verb.rawValue). Mount first.")
            }
            return try daemon.perform(.verb(verb)).result
        }
    }

    func show(asJSON json: Bool) throws {
        let problems = status["problems"]?.array ?? []
        let store = try access.reader()
        let refused = try access.reporting { () throws(RecordError) in try self.refused(store) }
        let passedOver = try access.reporting { () throws(RecordError) in
            try self.passedOver(store)
        }
        let isPaused = status["paused"]?.bool == true
        if json {
            Showing.json(
                status.adding("refused", .array(refused.map(\.json)))
                    .adding("passedOver", .array(passedOver.map(\.json))))
        } else {
            if isPaused {
                Terminal.error("Paused: nothing is fetched or sent until recordfs resume.")
            }
            for problem in problems {
                let zone = problem.stringMember("zone").map { "\($0): " } ?? ""
                Terminal.error(zone + (problem.stringMember("message") ?? ""))
            }
            if !problems.isEmpty, let next = status.stringMember("nextTry") {
                Terminal.error("It is tried again at \(next).")
            }
            for change in refused { Terminal.error("\(change.path): \(change.message)") }
            for record in passedOver {
                Terminal.error("\(record.path): it cannot be shown here: \(record.message)")
            }
            if status["needsSignIn"]?.bool == true {
                Terminal.error("The sign-in is no longer valid. recordfs login signs in again.")
            }
        }
        // A pause that the server asks for is no problem that a user must fix.
        guard problems.allSatisfy({ $0["isWait"]?.bool == true }), refused.isEmpty,
            passedOver.isEmpty, !isPaused,
            status["needsSignIn"]?.bool != true
        else { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    private static let showsAtMost = 100

    /// Returns the records of the server that this machine cannot show, under their names and types
    /// on the server.
    private func passedOver(_ store: RecordStore) throws(RecordError) -> [ExceptedRecord] {
        var records: [ExceptedRecord] = []
        for (zone, record) in try store.syncState.passedOver(limit: Self.showsAtMost) {
            guard let zone = try store.syncState.syncedZone(zone), let name = record.name else {
                continue
            }
            let place = RecordPath(
                database: zone.database, owner: zone.shownOwner, zone: zone.name)
            let path = try place.shown(name, in: zone.id, of: store, type: record.type)
            records.append(ExceptedRecord(path: path, message: record.reason))
        }
        return records
    }

    /// Returns the changes that the server has refused, each under the path that commands accept.
    private func refused(_ store: RecordStore) throws(RecordError) -> [ExceptedRecord] {
        var changes: [ExceptedRecord] = []
        for row in try store.syncState.refusedChanges(limit: Self.showsAtMost) {
            guard let zone = try store.syncState.syncedZone(row.zone) else { continue }
            let stem =
                try store.record(named: row.name, in: row.zone)?.stem
                ?? Stem(encoding: row.name)
            let path = RecordPath(
                database: zone.database, owner: zone.shownOwner, zone: zone.name, type: row.type,
                item: .record(stem))
            changes.append(ExceptedRecord(path: "\(path)", message: row.error ?? ""))
        }
        return changes
    }
}

/// A record that differs between this machine and the server.
private struct ExceptedRecord {
    let path: String
    let message: String

    var json: JSONValue { .members(["path": .text(path), "message": .text(message)]) }
}
