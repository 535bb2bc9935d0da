import RecordModel
import RecordSQL
import RecordStore

/// The server's news of one record, merged with what is here, and decided.
struct RecordUpdate {
    let existing: StoredRow
    let change: RemoteChange
    let place: TypePlace
    let news: RemoteNews
    let merged: MergedRecord
    let edits: LocalEdits
}

extension RemoteApplication {
    /// Carries out, effect by effect, what was decided of the server's news.
    func carryOut(
        _ effects: [RemoteDecision.Effect], of update: RecordUpdate
    ) throws(RecordError) -> RemoteResult {
        let reported = try reportedBase(update)
        var saved: SaveResult?
        for effect in effects {
            if case .write(let text, let hasTheirAssets, let isTheirEdit) = effect {
                saved = try write(
                    text, update, hasTheirAssets: hasTheirAssets, isTheirEdit: isTheirEdit)
            } else {
                try carryOut(effect, of: update, reported, saved)
            }
        }
        return RemoteResult(
            outcome: saved?.outcome == .updated ? .updated : .unchanged, id: update.existing.id,
            conflicts: update.merged.conflicts)
    }

    private func carryOut(
        _ effect: RemoteDecision.Effect, of update: RecordUpdate, _ reported: BaseContent,
        _ saved: SaveResult?
    ) throws(RecordError) {
        let (record, change) = (update.existing, update.change)
        switch effect {
        case .noteConflictOfDeletion:
            try noteConflict(
                change, of: record, in: update.place, base: update.news.text, mine: nil,
                theirs: update.news.remote.text)
        case .noteConflict(let fields, let lost):
            try noteConflict(
                change, of: record, in: update.place, fields: fields, theirsStood: lost,
                base: update.news.base?.text, mine: update.news.text,
                theirs: update.news.remote.text)
        case .noteLossesElsewhere: try noteLosses(update)
        case .keepStamps: try keepStamps(update)
        case .write: break
        case .putBase(let base, let text):
            let content =
                switch base {
                case .reported: reported
                case .ownVersion:
                    try content(update.news.remote.text, saved?.version, of: change.name)
                }
            try transaction.merging.putBase(record.id, change.changeTag, content, text)
        case .forgetPending: try forgetPending(change.name)
        case .send:
            try transaction.outbox.enqueue(
                .update, record.id, change.name, record.generation, update.place,
                alsoOfSync: true)
        case .turnCreateIntoUpdate: try setPending(change.name, .create, to: .update)
        }
    }

    /// The server's state as it is written there: the record may come back to its place by somebody
    /// else's move.
    private func reportedBase(_ update: RecordUpdate) throws(RecordError) -> BaseContent {
        if let sent = update.news.sent { return .version(sent) }
        return .text(
            try whole(update.news.fileText, update.news.remote, update.change.type))
    }

    private func write(
        _ text: [UInt8], _ update: RecordUpdate, hasTheirAssets: Bool, isTheirEdit: Bool
    ) throws(RecordError) -> SaveResult {
        let record = update.existing
        var new = RecordWriting.NewState(
            text: text, place: update.place, stem: record.entry.stem)
        if hasTheirAssets { new.knownAssets = KeptAsset.all(in: update.news.remote.fields) }
        if isTheirEdit {
            new.modified = update.change.modified
            new.changed = update.change.modified
            new.changedBy = update.change.modifiedBy
        }
        return try transaction.records.keepingDraft(of: record) { () throws(RecordError) in
            try transaction.records.update(record, to: new)
        }
    }
}
