package import RecordModel
package import RecordStore

/// The records of a store as a tree of files, in the terms of a file system.
///
/// Synchronous and without C of libfuse: RecordMount turns kernel requests into these calls and
/// `RecordError` into errno. The contract is the mount page of the documentation.
///
/// The tree only forwards to its rooms. Each room has its state behind its own lock, which is held
/// for decisions in memory only, never over a call of the store, file I/O or a notice. The page
/// "The rooms of the tree" of the documentation names the locks and their order.
package final class Tree: Sendable {
    package typealias Options = TreeOptions

    private let store: RecordStore
    private let options: TreeOptions
    let rooms: Rooms

    package init(store: RecordStore, options: Options) {
        self.store = store
        self.options = options
        rooms = Rooms(store: store, options: options)
        let (saving, remoteChanges) = (rooms.record.saving, rooms.change.remoteChanges)
        store.observeReplacements { [weak saving] in saving?.filesReplaced($0, $1) }
        store.observeStems { [weak remoteChanges] in remoteChanges?.stemsChanged($0) }
    }

    /// Reads the state that the last mount has left. Called once, before the mount.
    package func start() throws(RecordError) {
        try rooms.ground.errors.start()
        for (zone, incarnation) in try store.zoneIncarnations() {
            rooms.ground.nodes.begin(.zone(zone), epoch: incarnation)
        }
        if !options.isReadOnly { try rooms.share.shareEnding.resumeEndingShares() }
    }
}
