import RecordModel
import RecordStore
import Synchronization

/// Saves texts that only this process has, because a full disk or another temporary fault kept them
/// from the store.
extension Tree {
    /// Tries to save all texts that a full disk or another temporary fault has kept in memory.
    /// Returns whether all are saved now.
    package func retryUnsaved() -> Bool {
        guard state.withLock({ $0.retryIsDue }) else { return true }
        for open in unsavedRecords() {
            do throws(RecordError) {
                try save(open, isLast: true, isRetry: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason.
            } catch {
                continue
            }
            forgetIfClosed(open)
        }
        return state.withLock { state in
            state.retryIsDue = state.open.values.contains(where: \.isUnsaved)
            return !state.retryIsDue
        }
    }

    /// Discards the name's other unsaved texts when the transaction is committed: an older text
    /// that failed must not be saved after a newer one that was acknowledged.
    func dropUnsaved(
        _ type: TypeID, _ stem: Stem, but saved: OpenRecord? = nil, with transaction: Transaction
    ) {
        guard state.withLock({ $0.retryIsDue }) else { return }
        transaction.whenCommitted { [self] in dropUnsaved(type, stem, but: saved) }
    }

    /// Discards the name's other unsaved texts, after a commit.
    func dropUnsaved(_ type: TypeID, _ stem: Stem, but saved: OpenRecord? = nil) {
        guard state.withLock({ $0.retryIsDue }) else { return }
        for open in unsavedRecords() where open !== saved {
            let (isSameName, file) = open.state.withLock {
                ($0.type == type && $0.stem == stem, $0.file)
            }
            guard isSameName, open.dropUnsaved() else { continue }
            forgetIfClosed(open)
            state.withLock { state in
                if state.pending[type]?[stem] == file { state.removePending(type, stem) }
            }
        }
    }

    /// Forgets a file that is not open and has no unsaved text.
    private func forgetIfClosed(_ open: OpenRecord) {
        state.withLock { state in
            let isClosed = open.state.withLock { $0.handles == 0 && !$0.isDirty }
            if isClosed, state.open[open.file] === open { state.open[open.file] = nil }
        }
    }

    /// Returns the paths of the unsaved records, in order, after one more attempt to save them.
    package func unsavedPaths() -> [String] {
        _ = retryUnsaved()
        return unsavedRecords().map(path(of:)).sorted()
    }

    /// The number of records whose text only this process has.
    package var unsavedCount: Int { unsavedRecords().count }

    /// Returns the unsaved records in the order of their last writes.
    private func unsavedRecords() -> [OpenRecord] {
        let unsaved = state.withLock { state in
            state.open.values.filter(\.isUnsaved)
        }
        return unsaved.map { (open: $0, modified: $0.state.withLock(\.modified)) }
            .sorted { $0.modified < $1.modified }.map(\.open)
    }

    /// Tries to save for the last time, and writes the lost texts to the log with the reason.
    func reportUnsaved() {
        for open in unsavedRecords() {
            do throws(RecordError) {
                try save(open, isLast: true, isRetry: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason.
            } catch {
                options.report(
                    "\(path(of: open)) could not be saved, and its text is lost: \(error)")
            }
        }
    }

    /// Returns the path below the mount in a form for people.
    static func path(_ parts: [[UInt8]]) -> String {
        String(decoding: Array(parts.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }

    func path(of open: OpenRecord) -> String {
        let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
        do throws(RecordError) {
            return Self.path(try place(of: type).shownPath + [stem.fileName])
        } catch {
            // A failing disk may not even give the path.
            return "\(stem).json"
        }
    }
}

extension OpenRecord {
    /// Indicates whether it has a text that is not saved and that no writer holds any more.
    fileprivate var isUnsaved: Bool {
        state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
    }
}

extension Author {
    /// Indicates whether the author is `recordfs put`, `import` or a similar program, which reports
    /// to its user that it has saved.
    var isProgram: Bool { self != .mount && self != .sync }
}
