import RecordStore

/// What an upload leaves for later because the server has refused it for what others may put right:
/// deletes of records that others hang on, until those have gone, and what does not fit the quota,
/// until deletes have made room. All else goes on meanwhile.
struct UploadOrder {
    /// What is left out for now.
    private(set) var exceptions = ClaimExceptions()
    /// Why something stays unsent at the end.
    private(set) var problem: SyncProblem?
    /// Whether a delete that is refused now is taken back: nothing that could free it is left.
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

    /// All else was tried. Whether something of what was left is to be tried once more.
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
