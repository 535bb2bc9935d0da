import RecordModel

/// The records that a caller may see: those of the caller's own zone, those of accepted shares, or
/// in the public database those that the schema lets the caller's roles read.
struct Sight: Sendable {
    /// The shares whose members are visible. Nil stands for the whole zone.
    let shares: [RecordName]?
    let grants: Grants

    init(shares: [RecordName]?, grants: Grants) {
        self.shares = shares
        self.grants = grants
    }

    func shows(_ record: RecordFacts) -> Bool {
        includes(record.share) && grants.allow(.read, record.type, madeBy: record.creator)
    }

    /// Returns whether the members of this share are part of the view.
    func includes(_ share: RecordName?) -> Bool {
        guard let shares else { return true }
        return share.map(shares.contains) ?? false
    }
}
