import Synchronization

/// The engines of a store, one for each database. Another engine may wait for a change that one
/// engine has sent.
package final class EngineGroup: Sendable {
    private struct Member {
        weak var engine: SyncEngine?
    }

    private let members = Mutex<[Member]>([])

    package init() {}

    package func add(_ engines: [SyncEngine]) {
        members.withLock { $0 += engines.map { Member(engine: $0) } }
    }

    var all: [SyncEngine] { members.withLock { $0.compactMap(\.engine) } }
}
