import RecordModel
import RecordStore

/// Saves texts that only this process has, because a full disk or another temporary fault kept them
/// from the store.
extension RecordSaving {
    /// Handles the files that lose their names, before each commit: an open file keeps its text.
    /// After the commit of a program such as `recordfs put`, unsaved texts of the names are discarded.
    func filesReplaced(_ files: [ReplacedFile], _ moment: Replacement) {
        records.filesReplaced(files, moment)
        guard moment == .done else { return }
        for replaced in files where replaced.author.isProgram {
            dropUnsaved(replaced.entry.type, replaced.entry.stem)
        }
    }

    /// Tries to save all texts that a full disk or another temporary fault has kept in memory.
    /// Returns whether all are saved now.
    func retryUnsaved() -> Bool {
        guard records.retryIsDue else { return true }
        for open in records.unsaved {
            do throws(RecordError) {
                try save(open, isLast: true, isRetry: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason.
            } catch {
                continue
            }
            records.forgetIfClosed(open)
        }
        return !records.checkRetry()
    }

    /// Discards the name's other unsaved texts when the transaction is committed: an older text
    /// that failed must not be saved after a newer one that was acknowledged.
    func dropUnsaved(
        _ type: TypeID, _ stem: Stem, but saved: OpenRecord? = nil, with transaction: Transaction
    ) {
        guard records.retryIsDue else { return }
        transaction.whenCommitted { [self] in dropUnsaved(type, stem, but: saved) }
    }

    /// Discards the name's other unsaved texts, after a commit.
    func dropUnsaved(_ type: TypeID, _ stem: Stem, but saved: OpenRecord? = nil) {
        guard records.retryIsDue else { return }
        for open in records.unsaved where open !== saved {
            let name = open.identity
            guard name.type == type, name.stem == stem, open.dropUnsaved() else { continue }
            records.forgetIfClosed(open)
            records.removePending(type, stem, of: name.file)
        }
    }

    /// Returns the paths of the unsaved records, in order, after one more attempt to save them.
    func unsavedPaths() -> [String] {
        _ = retryUnsaved()
        return records.unsaved.map(path(of:)).sorted()
    }

    /// The number of records whose text only this process has.
    var unsavedCount: Int { records.unsaved.count }

    /// Tries to save for the last time, and writes the lost texts to the log with the reason.
    func reportUnsaved() {
        for open in records.unsaved {
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

    func path(of open: OpenRecord) -> String {
        let name = open.identity
        do throws(RecordError) {
            return TypeDirectories.path(
                try places.place(of: name.type).shownPath + [name.stem.fileName])
        } catch {
            // A failing disk may not even give the path.
            return "\(name.stem).json"
        }
    }
}

extension Author {
    /// Indicates whether the author is `recordfs put`, `import` or a similar program, which reports
    /// to its user that it has saved.
    var isProgram: Bool { self != .mount && self != .sync }
}
