package import RecordModel
import RecordSQL

/// One transaction of the store: everything done through it happens, or nothing does.
///
/// Made by `RecordStore.write`, valid only inside its closure, on the writer's queue. A method that
/// throws leaves what it did so far in the transaction: let the error leave the closure too, so
/// that all is rolled back.
package final class Transaction {
    let connection: SQLConnection
    let store: RecordStore
    let author: Author
    /// The time of everything in this transaction.
    package let now: Timestamp
    /// When what this transaction changes became another one to `stat` (`st_ctime`).
    package private(set) var changed: Timestamp

    /// Told to observers after the commit.
    var changes: [StoreChange] = []
    /// The files that lose their names, as they were before this transaction.
    var replaced: [RecordID: ReplacedFile] = [:]
    /// Records that show under other names.
    var stems: [StemChange] = []
    /// Published to the store's cache after the commit.
    var schemas: [RecordTypeName: RecordSchema] = [:]
    /// Fields that cannot be widened, with the reason, so that it is not looked for again.
    var refusedWidenings: [RecordTypeName: (fields: [FieldName], error: RecordError)] = [:]
    /// Record numbers taken from the store by this transaction itself.
    var ownRecordIDs: Range<Int64>?
    /// Asset files that an import placed and that rows of this transaction refer to.
    var referredAssets: [ContentHash] = []
    /// Told to observers with the last of `changes`.
    var assetNames = AssetNameChanges()
    /// Failpoints to pass when the commit is done.
    var pointsAfterCommit: [Failpoint] = []
    var actionsAtCommit: [() -> Void] = []
    /// Types whose directories have this transaction's time.
    var touched: Set<TypeID> = []
    /// `FieldStamp.time` of all that this transaction changes, once it has changed something.
    var stampTime: Int64?
    /// The latest `FieldStamp.time` of the record that the server is telling of; 0 when it has none.
    var toldTime: Int64 = 0
    /// Of zones of others: what is not sent there, by fields.
    var unsentValues: [ZoneID: [FieldName: [UnsentValue]]] = [:]
    /// Those of which all that others have written was compared with it.
    var zonesOfNotedWords: Set<ZoneID> = []
    /// Those of which the trash was looked through for what was never sent, with what it has of that.
    var unsentInTrash: [ZoneID: [(name: RecordName, words: OwnWords)]] = [:]
    /// Those of which records are erased.
    var zonesOfErased: Set<ZoneID> = []
    /// Set when a zone or type came or went, or changed its mapping or permission.
    var placesChanged = false

    init(connection: SQLConnection, store: RecordStore, author: Author, now: Timestamp) {
        self.connection = connection
        self.store = store
        self.author = author
        self.now = now
        changed = store.moment.next(now: now)
        store.moment.set(changed)
    }

    /// Says when the change was made that is only saved now: at the last write into an open file.
    package func date(changes moment: Timestamp) {
        changed = moment.asStored
        store.moment.set(changed)
    }

    /// Runs `action` when the commit has succeeded, before any other transaction begins. On the
    /// writer's queue: it may not call the store.
    package func whenCommitted(_ action: @escaping () -> Void) { actionsAtCommit.append(action) }

    /// What observers are told.
    var finishedChanges: [StoreChange] {
        var changes = changes
        if let last = changes.indices.last { changes[last].assetNames = assetNames }
        return changes
    }
}
