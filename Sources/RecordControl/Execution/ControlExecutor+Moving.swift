import RecordModel
import RecordStore

extension ControlExecutor {
    /// Moves a record.
    ///
    /// Within a type the record is renamed. To another type, zone or database it is copied and
    /// deleted, with its large fields, in the same transaction. A record at the target is replaced.
    /// To another zone all its descendants are moved too, and the objects that it is related to. A
    /// record that has a parent cannot be moved there.
    func move(_ path: RecordPath, to target: RecordPath) throws(RecordError) -> ControlReply {
        let entry = try store.record(at: path)
        guard case .record = path.item, target.type != nil else {
            throw RecordError(
                .invalidArgument, "only a record can be moved, to a record or a record type.")
        }
        let stem = target.stem ?? entry.stem
        guard path.directory != target.directory || stem != entry.stem else {
            throw RecordError(
                .invalidArgument, "\(target) is already its place. Name another record or type.")
        }
        let assets = try store.assets.assets(of: entry.id)
        let moved = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> RecordID in
            try transaction.checkWritable(entry.id)
            if !path.isInZone(of: target), try !transaction.moves.isAlone(entry.id) {
                guard stem == entry.stem, path.type == target.type else { throw Self.goesAlong }
                return try transaction.moveTree(of: entry.id, to: target)
            }
            let type = try transaction.makeType(at: target)
            guard type.id == entry.type else {
                let copy = try Self.copy(entry, assets, to: type, stem, in: transaction)
                try transaction.moves.finishMove(of: entry.id, to: copy)
                return copy
            }
            let renamed = try transaction.records.rename(entry.id, toType: type.id, stem: stem).id
            // A record that was only a draft has left nothing behind.
            if try transaction.records.record(entry.id) != nil {
                try transaction.records.finalizeDelete(entry.id)
            }
            return renamed
        }
        // The record may show under another name there, depending on the names that the other type
        // has.
        let shown = try store.record(moved)?.stem ?? stem
        return ControlReply(.members(["path": .text(target.directory.appending(shown).bytes)]))
    }

    private static let goesAlong = RecordError(
        .invalidArgument,
        "it is connected to other records by \"$parent\" or by relationships. They move with it "
            + "under their own names. Move it with its name and type, and then rename it.")

    private static func copy(
        _ entry: RecordEntry, _ assets: [AssetEntry], to type: TypeInfo, _ stem: Stem,
        in transaction: Transaction
    ) throws(RecordError) -> RecordID {
        guard let text = try transaction.records.savedText(of: entry.id) else {
            throw RecordError(
                .invalidRecord, "there is only a draft of this record. Correct or discard it first."
            )
        }
        let copy = try transaction.records.save(text: text, type: type.id, stem: stem)
        for asset in assets {
            guard let hash = asset.hash else { continue }
            _ = try transaction.assets.setAsset(
                copy.id, asset.field, asset.index, hash, size: asset.size,
                fileExtension: asset.fileExtension)
        }
        return copy.id
    }
}

extension RecordPath {
    fileprivate func isInZone(of other: RecordPath) -> Bool {
        (database, owner, zone) == (other.database, other.owner, other.zone)
    }
}

extension Transaction {
    /// Moves a record with its tree.
    ///
    /// - Returns: the record at its new place.
    fileprivate func moveTree(
        of root: RecordID, to target: RecordPath
    ) throws(RecordError) -> RecordID {
        guard let database = target.database, let zone = target.zone else {
            throw RecordError(.invalidArgument, "\(target) is in no zone.")
        }
        let plan = try moves.move(TreeMove(of: root, to: database, target.owner, zone))
        return plan.copies.first ?? root
    }
}
