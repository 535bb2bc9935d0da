import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// The results of the changes of one request. A change without an answer has an unknown result and
/// is sent again.
struct UploadResults {
    enum Outcome {
        /// The server has the change, under this tag.
        case saved(String)
        case deleted
        /// The server took the change when it first arrived, and no longer has the record.
        case savedAndGone
        /// The server has another state of the record.
        case differs(RecordAnswer)
        /// The server no longer has the record.
        case gone
        /// The record cannot be deleted on the server: it is restored on this machine.
        case stays(RecordAnswer)
        case unsent
        /// The change waits for an edit, or for `recordfs retry`.
        case parked(String)
        /// The bytes of these fields are neither on this machine nor on the server.
        case withoutBytes([FieldName])
    }

    struct Result {
        let claim: OutboxClaim
        var outcome = Outcome.unsent

        /// The server has a record that it did not have before.
        var hasMade: Bool {
            if case .saved = outcome { claim.row.operation == .create } else { false }
        }
    }

    /// Places in feeds: the known ones, and those after the request.
    struct Feeds {
        var zone: (known: [UInt8], new: [UInt8])
        var database: (known: [UInt8], new: [UInt8])?
    }

    private(set) var all: [Result]
    /// The places in feeds. Nil when the feeds between them contain something that is not known on
    /// this machine.
    var feeds: Feeds?
    /// The free space after the request, in bytes. Nil when the server does not say.
    var freeBytes: Int64?
    private(set) var toLookUp: [RecordName] = []
    private(set) var isTooLarge = false
    private(set) var problem: SyncProblem?
    /// Deletes of records that have children on the server, or whose copies are gone.
    private(set) var blocked: Set<Int64> = []
    /// Changes that do not fit the quota, and the server's error.
    private(set) var withoutRoom: Set<Int64> = []
    private(set) var quota: SyncProblem?
    /// Indicates whether blocked deletes are taken back.
    var takesBack = false
    /// Records with assets whose bytes the server may have forgotten.
    private(set) var withStaleReceipts: Set<RecordName> = []
    private var withKeptReceipts: Set<RecordName> = []
    /// Records whose texts were sent as changes, and those of them that the server did not accept
    /// in this form.
    private var withSplices: Set<RecordName> = []
    private(set) var unfitting: Set<RecordName> = []
    /// The server's answer about deleted roots of shares.
    var unshared: [RecordName: [RecordName]] = [:]
    /// Indicates whether a request is kept to be sent again, until it has an answer.
    var isUnanswered = false
    /// Indicates whether others share the zone. Then a record to delete that the server does not
    /// have may no longer be shared, and leaves nothing on this machine.
    var isOfOthers = false
    /// Records about which the feed was asked whether they have moved, without a result.
    var asked: Set<RecordName> = []
    /// Names of new records that already belong to other records on the server.
    private(set) var taken: Set<RecordName> = []
    /// The taken names that may belong to records not shared with this account.
    var mayBeHidden: Set<RecordName> = []
    private let isRepeated: Bool
    private let places: [RecordName: Int]

    /// - Parameter isRepeated: whether the request is sent again. The reason for its refusal may no
    ///   longer exist, so nothing is parked before it is sent as a new request.
    init(_ claims: [OutboxClaim], isRepeated: Bool = false) {
        self.isRepeated = isRepeated
        all = claims.map { Result(claim: $0) }
        places = Dictionary(
            claims.enumerated().map { ($1.row.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns whether the change can still be sent.
    func isOpen(_ name: RecordName) -> Bool {
        guard let place = places[name], case .unsent = all[place].outcome else { return false }
        return true
    }

    /// The records that the server has now.
    var sent: [RecordName] {
        all.compactMap { result in
            if case .saved = result.outcome { result.claim.row.name } else { nil }
        }
    }

    /// The changes that the server does not take, with the reasons.
    var parked: [(record: SyncEvent.Record, reason: String)] {
        all.compactMap { result in
            if case .parked(let reason) = result.outcome {
                (result.claim.eventRecord, reason)
            } else {
                nil
            }
        }
    }

    /// The server's states of records that differ.
    var differing: [RecordAnswer] {
        all.compactMap { result in
            switch result.outcome {
            case .differs(let answer), .stays(let answer): answer
            default: nil
            }
        }
    }

    /// Sends the changes of differing records again. The server then reports its states again.
    mutating func forgetDiffering() {
        for answer in differing { set(answer.name, .unsent) }
    }

    /// Replaces the server's state of a record by the same state with its long values.
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

    /// Parks changes whose record names no server takes, so that they do not block others. A
    /// deletion of such a record is done: the server never had it.
    mutating func keepUnsendable(hasExtensions: Bool) {
        // The server gives a user's own record its name.
        for claim in all.map(\.claim) where claim.row.type != .users {
            guard let problem = claim.row.name.sendingProblem(hasExtensions: hasExtensions) else {
                continue
            }
            set(
                claim.row.name,
                claim.isDelete ? .deleted : .parked("\(claim.row.name): \(problem)"))
        }
    }

    /// Parks a change, also in a repeated request.
    mutating func giveUp(_ name: RecordName, _ reason: String) { set(name, .parked(reason)) }

    private mutating func set(_ name: RecordName, _ outcome: Outcome) {
        guard let place = places[name] else { return }
        all[place].outcome = outcome
    }

    /// Reads the answer to records/modify.
    mutating func read(_ items: [RecordItem]) {
        for item in items {
            switch item {
            case .record(let answer): set(answer.name, .saved(answer.changeTag.string))
            case .deleted(let name, _, _, _):
                set(name, isDelete(name) ? .deleted : .savedAndGone)
            case .failed(let name?, let error): fail(name, error)
            case .failed(nil, let error): problem = .refused(error)
            case .unreadable(let error): problem = .unreadable("records/modify: \(error.reason)")
            }
        }
    }

    /// Notes that the server refused one change, or something that it needs.
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

    /// Returns whether other changes of the upload, or another upload of the bytes, may remove the
    /// reason.
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
            // The copy no longer exists. The feed reports what happened to it before the delete is
            // sent again.
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

    /// Reads the answer to records/lookup.
    mutating func readLookup(_ items: [RecordItem]) {
        for item in items {
            switch item {
            case .record(let answer):
                let isTakenBack = takesBack && isDelete(answer.name)
                set(answer.name, isTakenBack ? .stays(answer) : .differs(answer))
            case .deleted(let name, _, _, _): missing(name)
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

    /// Notes that there is no answer, or an error of the whole request. Halves find the change that
    /// is wrong; a single change is parked.
    mutating func fail(_ error: SyncProblem) {
        if isRepeated, isUnanswered {
            // The server does not know the request: its changes are sent in a new one.
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

extension OutboxClaim {
    /// The record, for events.
    var eventRecord: SyncEvent.Record { SyncEvent.Record(row.type, row.name) }
}
