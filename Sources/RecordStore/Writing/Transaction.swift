package import RecordModel
package import RecordSQL
import Synchronization

/// One transaction of the store: either everything done through it happens, or nothing does.
///
/// Made by `RecordStore.write`, valid only inside its closure, on the writer's queue. If a method
/// throws, the changes that it made so far stay in the transaction. Let the error leave the closure
/// too, so that everything is rolled back.
package final class Transaction {
    package let connection: SQLConnection
    package let store: RecordStore
    package let author: Author
    /// The name that the program has given itself which asks for this transaction.
    package let program: AuthorName?
    /// The program that makes the call, as the kernel knows it.
    let caller: CallingProgram?
    /// The gesture of its changes. Nil before the first, and where they belong to none.
    var ownGesture: GestureID?
    /// The origin that makes this transaction one gesture with others.
    var gestureKey: GestureBook.Key?
    /// The gesture that this transaction takes back.
    var reverts: GestureID?
    /// The origin of what is being applied, when it came from elsewhere.
    package var origin: GestureOrigin?
    /// The gestures of others that this transaction has looked for: nil for one of this machine.
    var foreignGestures: [GestureName: GestureID?] = [:]
    /// The token of the first change in this transaction. Nil before it.
    var firstToken: Int64?
    /// The time of everything in this transaction.
    package let now: Timestamp
    /// The time at which the files that this transaction changes become different for `stat`
    /// (`st_ctime`).
    package private(set) var changed: Timestamp

    /// The changes that are reported to observers after the commit.
    package var changes: [StoreChange] = []
    /// The files that lose their names, as they were before this transaction.
    var replaced: [RecordID: ReplacedFile] = [:]
    /// The records that are shown under other names.
    var stems: [StemChange] = []
    /// The schemas that are published to the store's cache after the commit.
    var schemas: [RecordTypeName: RecordSchema] = [:]
    /// The model that is attached.
    package internal(set) var model: AttachedModel?
    /// The relationships whose objects this transaction changes.
    var touchedLists: Set<ObjectList> = []
    /// Indicates whether the texts of these get them later, by `StoreModel.settleLinks`. The pages of
    /// a download change the lists of some objects again and again.
    package var leavesLists = false
    /// The objects that this transaction deletes with all that depends on them.
    var deletedObjects: Set<RecordID> = []
    /// Indicates whether the changes follow from others; see `StoreChange.isConsequence`.
    var makesConsequences = false
    /// Set when a model was attached or detached.
    var modelChanged = false
    /// Fields that cannot be widened, with the reason, so that the reason is not searched for
    /// again.
    var refusedWidenings: [RecordTypeName: (fields: [FieldName], error: RecordError)] = [:]
    /// Record numbers that this transaction itself took from the store.
    var ownRecordIDs: Range<Int64>?
    /// Asset files that an import placed and that rows of this transaction refer to.
    var referredAssets: [ContentHash] = []
    /// The asset names that are reported to observers with the last of `changes`.
    var assetNames = AssetNameChanges()
    /// Failpoints to pass when the commit is done.
    var pointsAfterCommit: [Failpoint] = []
    var actionsAtCommit: [() -> Void] = []
    /// The effect of this transaction on the times of directories.
    var touched: [TypeID: DirectoryTimes.Touch] = [:]
    /// The `FieldStamp.time` of everything that this transaction changes. Nil until it has changed
    /// something.
    var stampTime: Int64?
    /// The latest `FieldStamp.time` of the record that the server reports. 0 when it has none.
    package var toldTime: Int64 = 0
    /// The unsent values in zones of others, by field.
    var unsentValues: [ZoneID: [FieldName: [UnsentValue]]] = [:]
    /// The zones of others in which everything that others have written was compared with the
    /// unsent values.
    var zonesOfNotedWords: Set<ZoneID> = []
    /// The records in the trash of each zone that were never sent, with their values. A zone is
    /// present once its trash was searched.
    var unsentInTrash: [ZoneID: [(name: RecordName, words: OwnWords)]] = [:]
    /// The zones whose records this transaction erases.
    var zonesOfErased: Set<ZoneID> = []
    /// Set when a zone or type was added or removed, or when its mapping or permission changed.
    var placesChanged = false

    init(
        connection: SQLConnection, store: RecordStore, author: Author, program: AuthorName?,
        now: Timestamp
    ) {
        self.connection = connection
        self.store = store
        self.author = author
        self.program = program
        self.now = now
        caller = store.options.caller()
        model = store.attachedModel.withLock { $0 }
        changed = store.moment.next(now: now)
        store.moment.set(changed)
    }

    /// Sets the time of the change, for a change that is saved only now: the time of the last write
    /// into an open file.
    package func date(changes moment: Timestamp) {
        changed = moment.asStored
        store.moment.set(changed)
    }

    /// Runs `action` when the commit has succeeded, before any other transaction begins. It runs on
    /// the writer's queue, so it may not call the store.
    package func whenCommitted(_ action: @escaping () -> Void) { actionsAtCommit.append(action) }

    /// The changes that observers receive.
    var finishedChanges: [StoreChange] {
        var changes = changes
        if let last = changes.indices.last { changes[last].assetNames = assetNames }
        return changes
    }
}
