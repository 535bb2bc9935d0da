import RecordModel
import RecordTree

extension ServerBridge {
    /// Creates the exchange for the files of `.recordfs`. Only its requests about shares wait for
    /// the server.
    init(_ sync: MountedSync, _ verbs: VerbRunner) {
        let shares = ShareRequests(store: verbs.store, sync: sync)
        self.init(
            status: { sync.status },
            run: { (verb) throws(RecordError) in
                guard sync.service != nil else { throw Self.noServer }
                _ = try verbs.run(verb, waits: false)
            },
            fetcher: sync,
            share: { (order, file) throws(RecordError) in try shares.run(order, of: file) })
    }
}
