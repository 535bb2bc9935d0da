import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Makes the text the record, or a draft of it with the reason thrown.
    ///
    /// An empty text is a save in progress (`bash >` and `touch` flush before they write) and is
    /// left alone until `isLast`; then it is a draft, never a delete.
    func save(_ open: OpenRecord, isLast: Bool) throws(RecordError) {
        guard let first = open.snapshot(), isLast || !first.text.isEmpty else { return }
        do throws(RecordError) {
            try saveText(open)
        } catch  where error.isAboutContent {
            try saveDraft(open, error)
            throw error
        } catch {
            state.withLock { $0.retryIsDue = true }
            throw error
        }
    }

    private func saveText(_ open: OpenRecord) throws(RecordError) {
        // The snapshot is taken inside the transaction: writers are serialised there, so that of
        // two flushes the later text is the last one saved.
        let saved: (TextSnapshot, SaveResult)? = try store.write(author: .mount) {
            transaction throws(RecordError) in
            guard let snapshot = open.snapshot() else { return nil }
            let result = try transaction.save(
                text: snapshot.text, type: snapshot.type, stem: snapshot.stem, id: snapshot.id,
                modified: snapshot.modified)
            return (snapshot, result)
        }
        guard let (snapshot, result) = saved else { return }
        noteSaved(open, snapshot, result.id)
        // Assets that came before their record are named in its text now.
        if result.entry.size != Int64(snapshot.text.count) { recordTextChanged(result.id) }
    }

    private func saveDraft(_ open: OpenRecord, _ reason: RecordError) throws(RecordError) {
        Failpoint.pass(.draftBegin)
        let saved: (TextSnapshot, RecordEntry)? = try store.write(author: .mount) {
            transaction throws(RecordError) in
            guard let snapshot = open.snapshot() else { return nil }
            let entry = try transaction.saveDraft(
                text: snapshot.text, type: snapshot.type, stem: snapshot.stem, id: snapshot.id,
                error: reason)
            return (snapshot, entry)
        }
        Failpoint.pass(.draftCommitted)
        guard let (snapshot, entry) = saved else { return }
        noteSaved(open, snapshot, entry.id)
    }

    private func noteSaved(_ open: OpenRecord, _ snapshot: TextSnapshot, _ id: RecordID) {
        open.noteSaved(snapshot, id: id)
        let stale = state.withLock { state in
            state.removePending(snapshot.type, snapshot.stem)
            if id != snapshot.id {
                // Somebody else made the record meanwhile; the store kept its row.
                state.open[snapshot.id] = nil
                state.open[id] = open
                if let number = state.nodes.number(of: .record(snapshot.id)) {
                    state.nodes.rebind(number, to: .record(id))
                }
            }
            return state.nodes.otherNumbers(of: .record(id))
        }
        notify(stale.map(KernelNotice.content))
    }

    /// One handle fewer; with the last writer an unsaved text is saved or becomes a draft.
    func close(_ open: OpenRecord, writes: Bool) {
        let isLastWriter = open.state.withLock { state in
            if writes { state.writers -= 1 }
            return writes && state.writers == 0
        }
        if isLastWriter {
            do throws(RecordError) {
                try save(open, isLast: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason; nobody listens to release.
            } catch {
                // The text stays in memory, dirty, and `retryUnsaved` tries again.
                state.withLock { $0.retryIsDue = true }
            }
        }
        state.withLock { state in
            let isDone = open.state.withLock { open in
                open.handles -= 1
                return open.handles == 0 && (!open.isDirty || open.isUnlinked)
            }
            guard isDone else { return }
            if state.open[open.id] === open { state.open[open.id] = nil }
            state.forgetDetached { if case .record(let it) = $0 { it === open } else { false } }
        }
    }

    /// Saves what a full disk or another passing fault has kept in memory. Returns whether all is
    /// saved now.
    package func retryUnsaved() -> Bool {
        guard state.withLock({ $0.retryIsDue }) else { return true }
        let unsaved = state.withLock { state in
            state.open.values.filter { open in
                open.state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
            }
        }
        var isDone = true
        for open in unsaved {
            do throws(RecordError) {
                try save(open, isLast: true)
            } catch  where error.isAboutContent {
            } catch {
                isDone = false
                continue
            }
            state.withLock { state in
                let isClosed = open.state.withLock { $0.handles == 0 && !$0.isDirty }
                if isClosed, state.open[open.id] === open { state.open[open.id] = nil }
            }
        }
        if isDone { state.withLock { $0.retryIsDue = false } }
        return isDone
    }

    /// The number of records whose text only this process has.
    package var unsavedCount: Int {
        state.withLock { state in
            state.open.values.count { open in
                open.state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
            }
        }
    }
}

extension Tree.State {
    mutating func removePending(_ type: TypeID, _ stem: Stem) {
        guard pending[type]?.removeValue(forKey: stem) != nil else { return }
        if pending[type]?.isEmpty == true { pending[type] = nil }
    }
}

extension NodeTable {
    /// Numbers that may have old pages of a record whose text was written through another one.
    func otherNumbers(of node: Node) -> [NodeNumber] {
        let numbers = numbersWithPages(of: node)
        return numbers.count > 1 ? numbers : []
    }
}
