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

/// Numbers from a seed, the same on every machine (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
