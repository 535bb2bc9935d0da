import ArgumentParser
import RecordModel
import RecordStore

/// The options that choose some of the changes, or of the exchanges with the server.
struct EventFilter: ParsableArguments {
    enum Result: String, CaseIterable, ExpressibleByArgument {
        case succeeded, failed
    }

    @Option(
        help: """
            List only changes of this kind, such as created, updated, deleted, restored; with --sync \
            setup, import or export.
            """)
    var kind: [String] = []
    @Option(help: "List only the changes of this database: private, shared, public or local.")
    var database: String?
    @Option(help: "List only the changes of the zones with this name.")
    var zone: String?
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            List only the changes of this author: mount, cli, import, sync, restore, or the name \
            that a program has given itself. With ! before it: all but those of this author.
            """, valueName: "name"))
    var author: [String] = []
    @Option(help: "With --sync: list only the exchanges with this result: succeeded or failed.")
    var result: Result?
    @Flag(help: "With --sync: the same as --result failed.")
    var failed = false

    func validate(isSync: Bool) throws {
        if !author.isEmpty, isSync { throw ValidationError("--author is not for --sync.") }
        if author.contains(where: { $0.isEmpty || $0 == "!" }) {
            throw ValidationError("--author needs a name.")
        }
        if failed, !isSync { throw ValidationError("--failed is for --sync.") }
        if result != nil, !isSync { throw ValidationError("--result is for --sync.") }
        if failed, result == .succeeded {
            throw ValidationError("--failed and --result succeeded do not fit.")
        }
        if let database, Database(name: database) == nil {
            throw ValidationError("--database is private, shared, public or local.")
        }
        let kinds =
            isSync ? SyncEvent.Kind.allCases.map(\.rawValue) : ChangeKind.allCases.map(\.rawValue)
        for kind in kind where !kinds.contains(kind) {
            throw ValidationError("--kind is one of \(kinds.joined(separator: ", ")).")
        }
    }

    /// Indicates whether it leaves anything out.
    var isSet: Bool {
        !kind.isEmpty || database != nil || zone != nil || result != nil || failed
            || !author.isEmpty
    }

    private func takes(_ kind: String, _ database: Database?, _ zone: SyncedZone?) -> Bool {
        if !self.kind.isEmpty, !self.kind.contains(kind) { return false }
        if let name = self.database, database?.name != name { return false }
        if let name = self.zone, zone?.name.bytes != Array(name.utf8) { return false }
        return true
    }

    func takes(_ version: Version, in zone: SyncedZone?) -> Bool {
        let names = author.filter { !$0.hasPrefix("!") }
        guard names.isEmpty || names.contains(version.shownAuthor),
            !author.contains("!\(version.shownAuthor)")
        else { return false }
        return takes(version.kind.rawValue, zone?.database, zone)
    }

    func takes(_ event: SyncEvent, in zone: SyncedZone?) -> Bool {
        guard takes(event.kind.rawValue, event.database, zone) else { return false }
        switch failed ? .failed : result {
        case nil: return true
        case .failed: return event.error != nil
        case .succeeded: return event.error == nil && !event.isRunning
        }
    }
}
