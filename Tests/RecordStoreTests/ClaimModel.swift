import RecordModel
import RecordStore
import RecordStoreSync

/// A plain model of the choice of a claim: it looks at all rows of an outbox and at what each record
/// needs, and says which changes may go now and in which order.
struct ClaimModel {
    private let rows: [OutboxRow]
    /// The records that each record names as its parent or in a reference.
    private let needs: [String: Set<String>]
    private let exceptions: ClaimExceptions

    init(
        _ rows: [OutboxRow], needs: [String: Set<String>],
        except exceptions: ClaimExceptions = ClaimExceptions()
    ) {
        self.rows = rows
        self.needs = needs
        self.exceptions = exceptions
    }

    /// Returns whether nothing about the change itself keeps it here.
    private func isReady(_ row: OutboxRow) -> Bool {
        let isNameSent = rows.contains { $0.name == row.name && $0.batch != nil }
        return row.batch == nil && row.error == nil && !row.waitsForAsset && !isNameSent
            && !exceptions.contains(row)
    }

    /// Returns the changes that make the records which a change names.
    private func makers(_ row: OutboxRow) -> [OutboxRow] {
        guard row.operation != .delete else { return [] }
        return needs[row.name.description, default: []].compactMap { name in
            let creates = rows.filter { $0.name == RecordName(name) && $0.operation == .create }
            return creates.first { $0.batch != nil } ?? creates.first
        }
    }

    /// Returns the change and all changes that have to arrive before it or with it.
    private func closure(_ row: OutboxRow) -> [Int64: OutboxRow] {
        var found = [row.id: row]
        var left = [row]
        while let next = left.popLast() {
            for maker in makers(next) where found.updateValue(maker, forKey: maker.id) == nil {
                left.append(maker)
            }
        }
        return found
    }

    /// The numbers of the changes that may be sent now.
    var sendable: Set<Int64> {
        Set(rows.filter { closure($0).values.allSatisfy(isReady) }.map(\.id))
    }

    /// Returns what is wrong with the order of some changes, all of which are sendable.
    func disorder(_ claimed: [Int64]) -> [String] {
        let byID = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let places = Dictionary(claimed.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
        let closures = byID.mapValues { Set(closure($0).keys) }
        let direct = byID.mapValues { Set(makers($0).map(\.id)) }
        var wrong: [String] = []
        for (place, id) in claimed.enumerated() {
            // Two records that need each other go as they are found.
            for need in direct[id] ?? [] where closures[need]?.contains(id) == false {
                if places[need].map({ $0 > place }) ?? true { wrong.append("\(id) before \(need)") }
            }
            // A younger change goes first only where this one or an older one needs it.
            for before in claimed[..<place] where before > id {
                let isNeeded = claimed.contains {
                    $0 <= id && closures[$0]?.contains(before) == true
                }
                if !isNeeded { wrong.append("\(before) overtakes \(id)") }
            }
        }
        return wrong
    }
}
