package import RecordModel
package import RecordStore

/// Runs requests on a store: in the daemon for the control socket, in the command line when no
/// other process has the store.
package struct ControlExecutor: Sendable {
    /// Performs requests that only the owner of the mount and the sync engine can perform.
    package typealias VerbHandler = @Sendable (ControlVerb) throws(RecordError) -> JSONValue

    /// Sends requests about shares to the server.
    package typealias SharingHandler =
        @Sendable (SharingRequest) throws(RecordError) -> JSONValue

    let store: RecordStore
    private let verbs: VerbHandler
    private let sharing: SharingHandler
    private let status: @Sendable () -> JSONValue
    /// Indicates whether it accepts requests that are allowed only in tests.
    let isForTests: Bool
    /// The name that the program has given itself whose request runs.
    private(set) var author: AuthorName?

    /// Creates an executor. Without handlers, `flush` writes everything to stable storage. The
    /// other verbs and shares need a daemon.
    package init(
        store: RecordStore, verbs: VerbHandler? = nil, sharing: SharingHandler? = nil,
        isForTests: Bool = TestRun.isDeclared,
        status: @escaping @Sendable () -> JSONValue = { .object([]) }
    ) {
        self.store = store
        self.status = status
        self.isForTests = isForTests
        if let sharing {
            self.sharing = sharing
        } else {
            self.sharing = { (_) throws(RecordError) in
                throw RecordError(
                    .unsupported, "there is no daemon to ask the server. Mount first.")
            }
        }
        if let verbs {
            self.verbs = verbs
        } else {
            self.verbs = { (verb) throws(RecordError) in
                try Self.runAlone(verb, store)
            }
        }
    }

    private static func runAlone(
        _ verb: ControlVerb, _ store: RecordStore
    ) throws(RecordError) -> JSONValue {
        guard verb == .flush else {
            throw RecordError(
                .unsupported, "there is no daemon to \(verb.rawValue). Mount first.")
        }
        try store.sync()
        return .object([])
    }

    /// Runs a request of a program.
    ///
    /// Errors: the reason of a refusal. Nothing of the request is then stored, except the batches
    /// of a recursive removal that were finished before.
    package func run(
        _ request: ControlRequest, by author: AuthorName?
    ) throws(RecordError) -> ControlReply {
        var executor = self
        executor.author = author
        return try executor.run(request)
    }

    /// Runs a request of somebody without a name. Errors: as of a program.
    package func run(_ request: ControlRequest) throws(RecordError) -> ControlReply {
        switch request {
        case .put(let path, let text): try put(path, text)
        case .make(let path): try make(path)
        case .putAsset(let path, let file): try putAsset(path, file: file)
        case .remove(let path, let recursive): try remove(path, recursive: recursive)
        case .move(let path, let target): try move(path, to: target)
        case .restore(let path, let version): try restore(path, version: version)
        case .restoreAll(let path, let point, let isExact):
            try restoreAll(path, point, isExact: isExact)
        case .undo(let choice, let isRehearsal): try undo(choice, isRehearsal: isRehearsal)
        case .revert(let path): try revert(path)
        case .discardDraft(let path): try discardDraft(path)
        case .settleConflict(let path, let number, let settlement):
            try settleConflict(path, number, settlement)
        case .pin(let path, let isPinned): try pin(path, isPinned)
        case .applySchema(let text): try applySchema(text)
        case .importBatch(let batch): try importBatch(batch)
        case .search(let path, let words): try search(path, words)
        case .collectAssets:
            ControlReply(
                .members(["removed": .integer(try store.assets.collectAssets())]))
        case .wantIndexes(let path, let expression): try wantIndexes(path, expression)
        case .collectGarbage(let isRehearsal):
            ControlReply(try store.upkeep.collectGarbage(isRehearsal: isRehearsal).json)
        case .saveReader(let name, let token, let known):
            try saveReader(name, token: token, known: known)
        case .removeReader(let name): try removeReader(name)
        case .nameMoment(let name, let point): try nameMoment(name, at: point)
        case .removeMoment(let name): try removeMoment(name)
        case .edit(let request):
            try RecordEditor(store: store, author: author).run(request)
        case .sharing(let request): ControlReply(try sharing(request))
        case .status: ControlReply(status())
        case .verb(let verb): ControlReply(try verbs(verb))
        case .applyRemote(let text): try applyRemote(text)
        }
    }
}

extension CollectedGarbage {
    fileprivate var json: JSONValue {
        .members([
            "deletedRecords": .integer(deletedRecords), "versions": .integer(versions),
            "assetFiles": .integer(assetFiles), "bytesBefore": .integer(bytesBefore),
            "bytesAfter": .integer(bytesAfter), "readers": .array(readers.map(\.json)),
        ])
    }
}

extension SaveResult.Outcome {
    /// The word for the outcome in replies and reports.
    package var name: String {
        switch self {
        case .created: "created"
        case .updated: "updated"
        case .unchanged: "unchanged"
        }
    }
}
