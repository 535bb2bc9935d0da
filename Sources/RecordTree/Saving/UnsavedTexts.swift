import RecordModel
import RecordStore
import Synchronization

/// Texts that only this process has, because a full disk or another passing fault keeps them from
/// the store.
extension Tree {
    /// The paths of their records, in order, after one more try to save them.
    package func unsavedPaths() -> [String] {
        _ = retryUnsaved()
        return unsavedRecords().map(path(of:)).sorted()
    }

    /// The number of records whose text only this process has.
    package var unsavedCount: Int { unsavedRecords().count }

    func unsavedRecords() -> [OpenRecord] {
        state.withLock { state in
            state.open.values.filter { open in
                open.state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
            }
        }
    }

    /// Tries for the last time, and names in the log what is lost with its reason.
    func reportUnsaved() {
        for open in unsavedRecords() {
            do throws(RecordError) {
                try save(open, isLast: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason.
            } catch {
                options.report(
                    "\(path(of: open)) could not be saved, and its text is lost: \(error)")
            }
        }
    }

    private func path(of open: OpenRecord) -> String {
        let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
        do throws(RecordError) {
            let place = try place(of: type)
            let zone = place.zone
            var parts = [Array(zone.database.name.utf8)]
            if zone.database == .shared { parts.append(NameCodec.encode(zone.owner.bytes)) }
            parts += [NameCodec.encode(zone.name.bytes), place.type.bytes, stem.bytes]
            let path = Array(parts.joined(separator: [UInt8(ascii: "/")]))
            return String(decoding: path, as: UTF8.self) + ".json"
        } catch {
            // A disk that fails may not even say where it is.
            return "\(stem).json"
        }
    }
}
