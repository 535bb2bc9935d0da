/// The rooms of a transaction. Each has the operations of one concern.
extension Transaction {
    package var records: RecordWriting { RecordWriting(transaction: self) }
    package var assets: AssetWriting { AssetWriting(transaction: self) }
    package var upkeep: UpkeepWriting { UpkeepWriting(transaction: self) }
    package var moves: RecordMoving { RecordMoving(transaction: self) }
    package var merging: RecordMerging { RecordMerging(transaction: self) }
    package var outbox: Outbox { Outbox(transaction: self) }
    package var sharing: SharedContent { SharedContent(transaction: self) }
    package var links: ObjectLinks { ObjectLinks(transaction: self) }
    package var duplicates: Duplicates { Duplicates(transaction: self) }
    package var undoing: RecordUndoing { RecordUndoing(transaction: self) }
    package var models: ModelAttaching { ModelAttaching(transaction: self) }
}

/// Saves, renames, deletes and restores records, with their drafts and their history.
package struct RecordWriting {
    package let transaction: Transaction
}

/// Puts large fields beside their records.
package struct AssetWriting {
    package let transaction: Transaction
}

/// Removes what the retention no longer keeps, and erases what shares have left behind.
package struct UpkeepWriting {
    package let transaction: Transaction
}

/// Moves records and their children between types and zones.
package struct RecordMoving {
    package let transaction: Transaction
}

/// Keeps what merging needs: the acknowledged state, the stamps of edits, and the conflicts.
package struct RecordMerging {
    package let transaction: Transaction
}

/// Keeps the changes that the server does not have yet, until it has acknowledged them.
package struct Outbox {
    package let transaction: Transaction
}

/// Keeps shares, and removes what belongs to a share that has ended.
package struct SharedContent {
    package let transaction: Transaction
}

/// Keeps what each object's relationships contain, and the texts that show it.
///
/// The key of a one-to-many relationship is in the records at the many side, and a many-to-many
/// relationship has records of its own (`CDMR`). The texts of objects show lists of names, which
/// change with these records: at the end of each transaction the lists that it touched are written.
package struct ObjectLinks {
    let transaction: Transaction
}

/// Merges objects that several machines have made, and that are the same by the attributes that the
/// model names.
package struct Duplicates {
    package let transaction: Transaction
}

/// Attaches a model to the store, and detaches it. Fields and change tags stay, so that nothing is
/// sent: only the types and the texts of this machine change.
package struct ModelAttaching {
    package let transaction: Transaction
}

/// Takes back what gestures have done: `undo`, and `redo`, which takes back an undo.
///
/// An undo is a gesture too, so that history only grows. Only what the gesture itself has changed is
/// changed back: a value that somebody has changed since stays, and is told.
package struct RecordUndoing {
    let transaction: Transaction
}
