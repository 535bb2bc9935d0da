import RecordModel
import RecordStore

/// What a store should hold after random steps, kept in the plainest way.
struct HistoryModel {
    struct Entry: Equatable {
        var id: RecordID
        /// Nil while only a draft is there.
        var saved: String?
        var draft: String?
        var isWaiting = false
        var files: [String: String] = [:]
    }

    var entries: [Stem: Entry] = [:]
    /// The texts in the trash under each name, newest last.
    var trash: [Stem: [String]] = [:]
    /// How many versions each name has.
    var versions: [Stem: Int] = [:]

    /// The text that a listing's file would show, nil for a name that it does not show.
    func shown(_ stem: Stem) -> String? {
        guard let entry = entries[stem], !entry.isWaiting else { return nil }
        return entry.draft ?? entry.saved
    }
}
