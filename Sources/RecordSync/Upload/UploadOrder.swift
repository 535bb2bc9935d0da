import RecordStoreSync

/// The changes that an upload leaves for later because another change may remove the reason for
/// their refusal. These are deletes of records that still have children, until the children are
/// deleted, and changes that do not fit the quota, until deletes have made room. All other changes
/// are sent in the meantime.
struct UploadOrder {
    /// The changes that are left out for now.
    private(set) var exceptions = ClaimExceptions()
    /// The reason why something stays unsent at the end.
    private(set) var problem: SyncProblem?
    /// Indicates whether a delete that is refused now is taken back: no change is left that could
    /// make it possible.
    private(set) var takesBack = false
    private var blocked: Set<Int64> = []
    private var hasSent = false

    mutating func note(_ round: Exchange.Round) {
        exceptions.rows.formUnion(round.blocked)
        blocked.formUnion(round.blocked)
        exceptions.rows.formUnion(round.withoutRoom)
        if let quota = round.quota {
            problem = quota
            exceptions.creates = true
        }
        if round.sent > 0 { hasSent = true }
    }

    /// Begins again after everything else was tried. Returns whether some of the changes left out
    /// are to be tried once more.
    mutating func beginAnew() -> Bool {
        if hasSent, exceptions != ClaimExceptions() {
            self = UploadOrder()
            return true
        }
        guard !blocked.isEmpty, !takesBack else { return false }
        takesBack = true
        exceptions.rows.subtract(blocked)
        blocked = []
        return true
    }
}
