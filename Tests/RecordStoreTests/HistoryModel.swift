import RecordModel

/// What a store should hold after random steps, kept in the plainest way.
struct HistoryModel {
    struct Entry: Equatable {
        var id: RecordID
        /// Nil while only a draft is there.
        var saved: String?
        var draft: String?
        var isWaiting = false { didSet { if !isWaiting { renamedTo = nil } } }
        /// What a name that waits was renamed to.
        var renamedTo: Stem?
        var files: [String: String] = [:]
    }

    var entries: [Stem: Entry] = [:]
    /// The texts in the trash under each name, newest last.
    var trash: [Stem: [String]] = [:]
    /// How many versions each name has.
    var versions: [Stem: Int] = [:]

    /// A name that waits, for its record was renamed, gets another record.
    ///
    /// - Parameter id: what is renamed to it; nil for a text that is saved.
    mutating func finishRename(of stem: Stem, replacedBy id: RecordID? = nil) {
        guard let old = entries[stem], old.isWaiting,
            let copy = old.renamedTo.flatMap({ entries[$0] }),
            copy.saved != nil, copy.id != id
        else { return }
        trash[stem, default: []].append(old.saved ?? "")
        versions[stem, default: 0] += 1
        entries[stem] = nil
    }

    mutating func noteRename(of stem: Stem, to other: Stem) {
        for name in entries.keys where entries[name]?.renamedTo == stem {
            entries[name]?.renamedTo = other
        }
        entries[stem]?.renamedTo = other
    }

    /// The text that a listing's file would show, nil for a name that it does not show.
    func shown(_ stem: Stem) -> String? {
        guard let entry = entries[stem], !entry.isWaiting else { return nil }
        return entry.draft ?? entry.saved
    }
}
