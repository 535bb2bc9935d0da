import Glibc
import RecordControl
import RecordModel
import RecordMount

/// Runs the requests of commands while the mount is served.
struct MountRequests: Sendable {
    private let view: MountView
    private let executor: ControlExecutor

    init(verbs: VerbRunner, isReadOnly: Bool) {
        let view = verbs.view
        let start = SystemClock().now
        let shares = ShareRequests(store: verbs.store, sync: verbs.sync)
        self.view = view
        executor = ControlExecutor(
            store: verbs.store,
            verbs: { (verb) throws(RecordError) in try verbs.run(verb, waits: true) },
            sharing: { (request) throws(RecordError) in try shares.run(request) },
            status: {
                let records = UnsavedRecords(view.unsavedPaths())
                return .members([
                    "pid": .integer(getpid()), "mountpoint": .text(verbs.mountpoint),
                    "readOnly": .bool(isReadOnly), "since": .text(Showing.time(start)),
                    "version": .text(ProgramVersion.number), "unsaved": records.numberMember,
                    "unsavedRecords": records.namesMember, "sync": verbs.sync.status,
                ])
            })
    }

    /// Runs a request. Its changes are visible on the mount when it returns.
    func run(
        _ request: ControlRequest, by author: AuthorName?
    ) throws(RecordError) -> ControlReply {
        defer { if request.mayChangeFiles { view.waitUntilHeard() } }
        return try executor.run(request, by: author)
    }
}
