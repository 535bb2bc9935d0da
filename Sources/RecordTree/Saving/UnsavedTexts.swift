import RecordModel
import RecordStore
import Synchronization

/// Texts that only this process has, because a full disk or another passing fault keeps them from
/// the store.
extension Tree {
    /// Saves what a full disk or another passing fault has kept in memory. Returns whether all is
    /// saved now.
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

    /// When the transaction is done, the name's other texts, which no save has taken, are history:
    /// one that has failed does not come after one that was acknowledged.
    func dropUnsaved(
        _ type: TypeID, _ stem: Stem, but saved: OpenRecord? = nil, with transaction: Transaction
    ) {
        guard state.withLock({ $0.retryIsDue }) else { return }
        transaction.whenCommitted { [self] in dropUnsaved(type, stem, but: saved) }
    }

    /// The same when the transaction is done.
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

    /// Nobody has it open, and nothing waits in it.
    private func forgetIfClosed(_ open: OpenRecord) {
        state.withLock { state in
            let isClosed = open.state.withLock { $0.handles == 0 && !$0.isDirty }
            if isClosed, state.open[open.file] === open { state.open[open.file] = nil }
        }
    }

    /// The paths of their records, in order, after one more try to save them.
    package func unsavedPaths() -> [String] {
        _ = retryUnsaved()
        return unsavedRecords().map(path(of:)).sorted()
    }

    /// The number of records whose text only this process has.
    package var unsavedCount: Int { unsavedRecords().count }

    /// In the order of their writing.
    private func unsavedRecords() -> [OpenRecord] {
        let unsaved = state.withLock { state in
            state.open.values.filter(\.isUnsaved)
        }
        return unsaved.map { (open: $0, modified: $0.state.withLock(\.modified)) }
            .sorted { $0.modified < $1.modified }.map(\.open)
    }

    /// Tries for the last time, and names in the log what is lost with its reason.
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

    /// The path below the mount, as people read it.
    static func path(_ parts: [[UInt8]]) -> String {
        String(decoding: Array(parts.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }

    func path(of open: OpenRecord) -> String {
        let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
        do throws(RecordError) {
            return Self.path(try place(of: type).shownPath + [stem.fileName])
        } catch {
            // A disk that fails may not even say where it is.
            return "\(stem).json"
        }
    }
}

extension OpenRecord {
    /// Whether it has a text that no save has taken, and that no writer holds any more.
    fileprivate var isUnsaved: Bool {
        state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
    }
}

extension Author {
    /// Whether it is `recordfs put`, `import` and the like, which say that they have saved.
    var isProgram: Bool { self != .mount && self != .sync }
}
