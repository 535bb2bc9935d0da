import RecordModel
import RecordStore
import RecordWire

/// What became of the changes of one request. Of those that no answer tells of, nothing is known:
/// they are sent again.
struct UploadResults {
    enum Outcome {
        /// The server has it, under this tag.
        case saved(String)
        case deleted
        /// The server has taken it when it came first, and has the record no more.
        case savedAndGone
        /// The server has another state of the record.
        case differs(RecordAnswer)
        /// The server has the record no more.
        case gone
        /// The record cannot be deleted there: it is here again.
        case stays(RecordAnswer)
        case unsent
        /// It waits for an edit, or for `recordfs retry`.
        case parked(String)
        /// The bytes of these fields are neither here nor there.
        case withoutBytes([FieldName])
    }

    struct Result {
        let claim: OutboxClaim
        var outcome = Outcome.unsent
    }

    /// Places in feeds: as they were known, and behind what was done.
    struct Feeds {
        var zone: (known: [UInt8], new: [UInt8])
        var database: (known: [UInt8], new: [UInt8])?
    }

    private(set) var all: [Result]
    /// Nil when there is something in them that is not known here.
    var feeds: Feeds?
    /// How much room there is behind what was done, in bytes; nil when the server does not say.
    var freeBytes: Int64?
    private(set) var toLookUp: [RecordName] = []
    private(set) var isTooLarge = false
    private(set) var problem: SyncProblem?
    /// Deletes of records that others hang on there, or whose copies are gone.
    private(set) var blocked: Set<Int64> = []
    /// What does not fit the quota, and what the server says of it.
    private(set) var withoutRoom: Set<Int64> = []
    private(set) var quota: SyncProblem?
    /// Whether blocked deletes are taken back.
    var takesBack = false
    /// Records with assets of which the server may have forgotten that it has their bytes.
    private(set) var withStaleReceipts: Set<RecordName> = []
    private var withKeptReceipts: Set<RecordName> = []
    /// Records whose texts were sent as changes, and those of them that the server did not take so.
    private var withSplices: Set<RecordName> = []
    private(set) var unfitting: Set<RecordName> = []
    /// What the server says of roots of shares that were deleted.
    var unshared: [RecordName: [RecordName]] = [:]
    /// Whether a request is kept to be sent again, until it has an answer.
    var isUnanswered = false
    /// Whether others share the zone: what is to be deleted, and missing there, may be shared no longer,
    /// and leaves nothing here.
    var isOfOthers = false
    /// Records of which the feed was asked whether they have moved, and did not say so.
    var asked: Set<RecordName> = []
    /// Names of new records that the server has for others.
    private(set) var taken: Set<RecordName> = []
    /// Those of them that may be of what is not shared with this account.
    var mayBeHidden: Set<RecordName> = []
    private let isRepeated: Bool
    private let places: [RecordName: Int]

    /// - Parameter isRepeated: of a request that is sent again. What it was refused for may be so no
    ///   more: nothing is parked before it is asked anew.
    init(_ claims: [OutboxClaim], isRepeated: Bool = false) {
        self.isRepeated = isRepeated
        all = claims.map { Result(claim: $0) }
        places = Dictionary(
            claims.enumerated().map { ($1.row.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether it can still be sent.
    func isOpen(_ name: RecordName) -> Bool {
        guard let place = places[name], case .unsent = all[place].outcome else { return false }
        return true
    }

    /// What the server has now.
    var sent: [RecordName] {
        all.compactMap { result in
            if case .saved = result.outcome { result.claim.row.name } else { nil }
        }
    }

    /// What the server does not take, with its reasons.
    var parked: [(name: RecordName, reason: String)] {
        all.compactMap { result in
            if case .parked(let reason) = result.outcome {
                (result.claim.row.name, reason)
            } else {
                nil
            }
        }
    }

    /// Of records that the server has in another state, that state.
    var differing: [RecordAnswer] {
        all.compactMap { result in
            switch result.outcome {
            case .differs(let answer), .stays(let answer): answer
            default: nil
            }
        }
    }

    /// They are sent again, and what the server has is told again.
    mutating func forgetDiffering() {
        for answer in differing { set(answer.name, .unsent) }
    }

    /// The same record, with its long values.
    mutating func replaceDiffering(_ answer: RecordAnswer) {
        guard let place = places[answer.name] else { return }
        if case .stays = all[place].outcome {
            all[place].outcome = .stays(answer)
        } else {
            all[place].outcome = .differs(answer)
        }
    }

    mutating func lookUp(_ name: RecordName) { toLookUp.append(name) }
    mutating func noteSplices(_ name: RecordName) { withSplices.insert(name) }
    mutating func noteKeptReceipt(_ name: RecordName) { withKeptReceipts.insert(name) }
    mutating func park(_ name: RecordName, _ reason: String) {
        if !isRepeated { set(name, .parked(reason)) }
    }

    mutating func missBytes(of field: FieldName, _ name: RecordName) {
        guard let place = places[name] else { return }
        if case .withoutBytes(let fields) = all[place].outcome {
            all[place].outcome = .withoutBytes(fields.filter { $0 != field } + [field])
        } else if !isRepeated {
            all[place].outcome = .withoutBytes([field])
        }
    }

    /// Those whose names no server takes are parked, and hold up no other. A deletion is done: what has
    /// such a name was never there.
    mutating func keepUnsendable(hasExtensions: Bool) {
        // A user's own record is called by the server.
        for claim in all.map(\.claim) where claim.row.type != .users {
            guard let problem = claim.row.name.sendingProblem(hasExtensions: hasExtensions) else {
                continue
            }
            set(
                claim.row.name,
                claim.isDelete ? .deleted : .parked("\(claim.row.name): \(problem)"))
        }
    }

    /// Parked, also when it was repeated.
    mutating func giveUp(_ name: RecordName, _ reason: String) { set(name, .parked(reason)) }

    private mutating func set(_ name: RecordName, _ outcome: Outcome) {
        guard let place = places[name] else { return }
        all[place].outcome = outcome
    }

    /// The answer to records/modify.
    mutating func read(_ items: [RecordItem]) {
        for item in items {
            switch item {
            case .record(let answer): set(answer.name, .saved(answer.changeTag.string))
            case .deleted(let name, _, _):
                set(name, isDelete(name) ? .deleted : .savedAndGone)
            case .failed(let name?, let error): fail(name, error)
            case .failed(nil, let error): problem = .refused(error)
            case .unreadable(let error): problem = .unreadable("records/modify: \(error.reason)")
            }
        }
    }

    /// One change was refused, or something that it needs.
    mutating func fail(_ name: RecordName, _ error: WireError) {
        if isLeftForLater(name, error) { return }
        switch Reaction(error) {
        case .merge:
            if let record = error.serverRecord {
                set(name, .differs(record))
            } else {
                if error.code == .exists { taken.insert(name) }
                lookUp(name)
            }
        case .remake: missing(name)
        case .sendAgain: break
        case .split where all.count > 1: isTooLarge = true
        case .retry, .signIn, .findZone: problem = .refused(error)
        case .park, .split, .restartFeed:
            park(name, SyncProblem.refused(error).description)
        }
    }

    /// Whether others of the upload, or bytes that are brought anew, may put it right.
    private mutating func isLeftForLater(_ name: RecordName, _ error: WireError) -> Bool {
        guard let place = places[name] else { return false }
        let claim = all[place].claim
        switch error.code {
        case .validatingReferenceError where claim.isDelete:
            if takesBack {
                lookUp(name)
            } else {
                blocked.insert(claim.row.id)
            }
            return true
        case .conflict where claim.isDelete && claim.movedTo != nil && error.serverRecord == nil:
            // Its copy is not there any more. What has become of that the feed says before it is sent again.
            blocked.insert(claim.row.id)
            return true
        case .quotaExceeded:
            withoutRoom.insert(claim.row.id)
            quota = .refused(error)
            return true
        case .badRequest where withSplices.contains(name):
            unfitting.insert(name)
            return true
        case .badRequest where withKeptReceipts.contains(name) || isRepeated:
            withStaleReceipts.insert(name)
            return true
        default: return false
        }
    }

    /// The answer to records/lookup.
    mutating func readLookup(_ items: [RecordItem]) {
        for item in items {
            switch item {
            case .record(let answer):
                let isTakenBack = takesBack && isDelete(answer.name)
                set(answer.name, isTakenBack ? .stays(answer) : .differs(answer))
            case .deleted(let name, _, _): missing(name)
            case .failed(let name?, let error) where Reaction(error) == .remake: missing(name)
            case .failed(_, let error): problem = .refused(error)
            case .unreadable(let error): problem = .unreadable("records/lookup: \(error.reason)")
            }
        }
    }

    private mutating func missing(_ name: RecordName) {
        if mayBeHidden.contains(name) {
            giveUp(
                name,
                "\(name): the owner has a record of this name that is not shared with you. Give it "
                    + "another name.")
            return
        }
        set(name, isDelete(name) && !isOfOthers ? .deleted : .gone)
    }

    private func isDelete(_ name: RecordName) -> Bool {
        places[name].map { all[$0].claim.isDelete } ?? false
    }

    /// No answer, or one to the request as a whole. What is wrong with one of them, halves find; alone
    /// it is parked.
    mutating func fail(_ error: SyncProblem) {
        if isRepeated, isUnanswered {
            // It is not known there: what was in it is sent anew.
            return
        }
        guard case .refused(let refusal) = error,
            refusal.code == .badRequest || refusal.code == .limitExceeded
        else {
            problem = error
            return
        }
        if all.count > 1 {
            isTooLarge = true
        } else {
            for result in all { park(result.claim.row.name, "\(error)") }
        }
    }
}
