import RecordModel
import RecordStore

/// The server's news of a record that this store has, beside the state of the record here: everything
/// that a decision needs, as values.
struct RemoteNews {
    /// The record's saved text here, and its values.
    let text: [UInt8]
    let local: RecordDocument
    /// The values on the server.
    let remote: RecordDocument
    /// The file that every machine has of these values; nil when the server keeps no texts.
    let fileText: [UInt8]?
    /// The server's own statement about the file.
    let sentText: RemoteChange.FileText
    /// The record is removed here and waits for its deletion.
    let isWaitingDelete: Bool
    /// Something of the record is still to be sent, or has no answer yet.
    let isPending: Bool
    /// An edit of the record is still to be sent, or has no answer yet.
    let isEditPending: Bool
    /// The server reports the state that it had acknowledged to this store.
    let isAcknowledged: Bool
    /// The server reports an older state than this store knows of: its backup was restored.
    let isEarlier: Bool
    /// The version of this store that the server reports, when its answer was lost or is still to come.
    let sent: Int64?
    /// The last state that both sides had.
    let base: RecordDocument?
    /// The server's copy of the file, as this store knew it before; nil when it knew none.
    let knownText: TextOnServer?
    /// Other people share the zone, and its owner is one of them.
    let isOfOthers: Bool
    /// The pending edit changes how the file is written, and no value.
    let isEditOfLayout: Bool
    /// The record waits for its deletion, and the server only lacks keys of objects that are not here
    /// either.
    var hasOnlyLostKeys = false
}

/// The merged record.
struct MergedRecord {
    let text: [UInt8]
    let document: RecordDocument
    /// Fields that both sides had changed in two ways.
    let conflicts: [FieldName]
    /// The conflicts in which the server's value won.
    let lost: [FieldName]
}

/// Decides about the effects on the store of the server's news about one record.
///
/// It decides from values alone, so that a table can test it. `RemoteApplication` reads what
/// `RemoteNews` needs, and carries the effects out in their order.
enum RemoteDecision {
    /// The state that the server has now, as this store keeps it.
    enum Base: Equatable {
        /// The values as the server reports them.
        case reported
        /// The version of this store with the same values.
        case ownVersion
    }

    enum Effect: Equatable {
        /// The deletion that waits here loses against the server's edit: the user sees a conflict.
        case noteConflictOfDeletion
        /// Both sides had changed these fields; the user can choose again.
        case noteConflict(fields: [FieldName], lost: [FieldName])
        /// Fields in which an edit of this machine lost in a merge elsewhere are conflicts, too.
        case noteLossesElsewhere
        /// The place of each field's edit in the order of all edits.
        case keepStamps
        /// The record gets this text.
        /// - `hasTheirAssets`: the large fields are those of the server.
        /// - `isTheirEdit`: it counts as changed when, and by whom, the server says.
        case write(text: [UInt8], hasTheirAssets: Bool, isTheirEdit: Bool)
        case putBase(Base, TextOnServer)
        /// The server has all of it: nothing is left to send.
        case forgetPending
        /// The server lacks something of the record: it is sent again.
        case send
        /// A pending creation becomes an update, for the server has the record.
        case turnCreateIntoUpdate
    }

    /// Returns the effects in the order in which they are carried out.
    static func decide(_ news: RemoteNews, _ merged: MergedRecord) -> [Effect] {
        // An edit elsewhere that lost against one here is news all the same: whoever removed the
        // record has not seen it.
        let isUnchanged =
            news.hasOnlyLostKeys || merged.text == news.text && merged.conflicts.isEmpty
        var effects: [Effect] = []
        if news.isWaitingDelete, !isUnchanged {
            effects.append(.noteConflictOfDeletion)
        } else if !merged.conflicts.isEmpty {
            effects.append(.noteConflict(fields: merged.conflicts, lost: merged.lost))
        }
        if !news.isWaitingDelete { effects.append(.noteLossesElsewhere) }
        // After the losses: these are found by the stamps of before.
        effects.append(.keepStamps)
        if news.isWaitingDelete, isUnchanged {
            effects += goOnDeleting(news, merged)
        } else {
            effects += take(news, merged)
        }
        return effects
    }

    /// The server has nothing but what is to be deleted: it goes on waiting for that.
    private static func goOnDeleting(_ news: RemoteNews, _ merged: MergedRecord) -> [Effect] {
        var effects = [Effect.putBase(.reported, news.reportedText)]
        if news.sent != nil, merged.document.hasSameValues(as: news.remote) {
            effects.append(.forgetPending)
        }
        if news.isPending { effects.append(.turnCreateIntoUpdate) }
        return effects
    }

    private static func take(_ news: RemoteNews, _ merged: MergedRecord) -> [Effect] {
        let hasTheirValues = merged.document.hasSameValues(as: news.remote)
        let file = File(news, merged, hasTheirValues: hasTheirValues)
        let text = file.replacement(of: merged.text, news)
        var effects: [Effect] = []
        // A record that is as it was stays untouched, with its time: most news are saves of this
        // machine, told back.
        if text != news.text || news.isWaitingDelete
            || hasTheirValues && !news.local.hasSameValues(as: news.remote)
        {
            effects.append(
                .write(text: text, hasTheirAssets: hasTheirValues, isTheirEdit: !news.isEarlier))
        }
        effects.append(.putBase(hasTheirValues ? .ownVersion : .reported, file.onServer))
        if hasTheirValues, file.text == nil || file.text == text, !file.isMissingThere(news) {
            if news.isPending { effects.append(.forgetPending) }
        } else if !news.isEditPending {
            effects.append(.send)
        }
        if news.isPending { effects.append(.turnCreateIntoUpdate) }
        return effects
    }

    /// The record's file: the text that every machine is to have, and whether the server has it.
    private struct File {
        var text: [UInt8]?
        var onServer: TextOnServer
        let hasTheirValues: Bool

        init(_ news: RemoteNews, _ merged: MergedRecord, hasTheirValues: Bool) {
            text = news.fileText
            onServer = news.reportedText
            self.hasTheirValues = hasTheirValues
            guard news.isOwnSave, hasTheirValues, news.sentText == .none else { return }
            // A file that this machine has saved stays as it was written. Where others print it
            // otherwise, its text is what the server lacks.
            text = merged.text
            guard merged.text != news.remote.text,
                merged.text.count <= RecordLimits.fileTextBytes
            else { return }
            onServer = news.isTextHidden || news.knownText == .withheld ? .withheld : .sent
        }

        func isMissingThere(_ news: RemoteNews) -> Bool {
            news.sentText == .none && onServer == .sent
        }

        /// The text that the record gets instead of the merged one.
        ///
        /// An edit whose values are all there, or have lost, is not sent again for the way in which
        /// it is written: it would win against a deletion. But an edit of nothing else is.
        func replacement(of merged: [UInt8], _ news: RemoteNews) -> [UInt8] {
            guard let text, hasTheirValues, !news.isEditOfLayout, !news.isEarlier else {
                return merged
            }
            return text
        }
    }
}

extension RemoteNews {
    fileprivate var reportedText: TextOnServer { sentText == .none ? .printed : .sent }

    /// The server reports a save of this machine, and nothing was edited here since.
    fileprivate var isOwnSave: Bool { !isEditPending && (isAcknowledged || sent != nil) }

    /// The server has the text of the file and shows it to nobody here: it names a parent that is not
    /// shared with this user.
    fileprivate var isTextHidden: Bool { isOfOthers && isAcknowledged && knownText == .sent }
}
