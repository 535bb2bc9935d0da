import RecordModel
import RecordWire

/// What a records/modify will do, worked out in memory over what the transaction has read, before
/// anything is written (reference §6.3, §9, §14).
///
/// Each operation is first looked at alone: change tags, types, fields, rights. Then the batch as
/// a whole is settled: parents and reference targets, what deletions take with them, membership in
/// shares, quota. An operation that cannot be is marked and the rest is settled again without it,
/// so that the order of parents and children inside a batch does not matter. A batch has one
/// operation for each record at most.
struct ModifyPlan {
    /// What the records that a request names may have together, as stored.
    private static let maximumStoredBytes = 32 << 20

    /// One operation of the request with what became of it.
    struct Step {
        enum Outcome {
            // Steps are gone through again and again, and each look copies what is not behind a
            // reference.
            indirect case failed(ServerError)
            indirect case saved(PlannedRecord)
            /// The record as it was.
            indirect case deleted(StoredRecord)
            /// A participant deleted the share record, or the root that it is about.
            case left(share: RecordName)
            /// Acknowledged as deleted without effect.
            case withdrawn
        }

        let name: RecordName?
        let request: RecordOperation?
        var outcome: Outcome
        /// What an operation on a `cloudkit.share` makes of the share.
        var share: ShareStep?

        var error: ServerError? {
            if case .failed(let error) = outcome { error } else { nil }
        }
    }

    struct ShareStep {
        let old: ShareRow?
        let new: ShareRow
        /// The root of a new share that no operation of the request saves.
        var root: StoredRecord?
    }

    struct MadeShare {
        let share: ShareRow
        let operation: Int
    }

    let access: ZoneAccess
    let context: OperationContext
    let service: RecordService
    let transaction: any StorageTransaction
    let isAtomic: Bool
    /// How the request wants to see records.
    let projection: RecordProjection
    let opensNumbers: Bool
    /// Of everything that this batch writes.
    let stamp: WriteStamp
    let visibility: RecordVisibility
    var ids: RandomIDs
    /// How many people the batch has invited.
    var invitationCount = 0
    var overlay: RecordOverlay
    var schema: ContainerSchema
    var hasSchemaGrown = false
    var steps: [Step] = []
    /// Shares that go with the batch, with the operation to blame.
    var removedShares: [RecordName: Int] = [:]
    /// What stays of hierarchies whose roots the batch deletes with their shares: the first records that
    /// hung on each.
    var released: [RecordName: [RecordName]] = [:]
    /// Shares that the batch makes, by their root.
    var madeShares: [RecordName: MadeShare] = [:]
    /// Whether records that are stored may come into another share.
    var hasMoves = false
    /// What each record is a member of after the batch, as far as it was asked.
    var memberships: [RecordName: Membership] = [:]
    /// Those among them below which everything comes where they come.
    var takenAlong: Set<RecordName> = []
    var trees: PlannedTrees
    /// Of the operations that have failed since all were looked at alone.
    var refusals: [Int: Refusal] = [:]
    /// How many were taken back.
    var reconsiderations = 0

    var settings: ServiceSettings { service.settings }
    var zone: ZoneKey { access.zone.key }
    var isParticipant: Bool {
        if case .participant = access.view { true } else { false }
    }

    /// Works out everything. Errors: those of the whole request only; those of operations are in
    /// `steps`.
    static func make(
        _ request: ModifyRequest, names: [RecordName?], access: ZoneAccess,
        context: OperationContext, service: RecordService, ids: RandomIDs,
        transaction: any StorageTransaction
    ) throws(ServerError) -> ModifyPlan {
        var plan = ModifyPlan(
            access: access, context: context, service: service, transaction: transaction,
            isAtomic: access.zone.key.isAtomic && request.atomic ?? true,
            projection: request.projection, opensNumbers: request.opensNumbers,
            stamp: try stamp(context),
            visibility: try RecordVisibility(access, context, transaction),
            ids: ids,
            overlay: RecordOverlay(
                zone: access.zone.handle, reader: transaction, context: context),
            schema: try ContainerSchema.current(context.container, transaction),
            trees: PlannedTrees(room: service.settings.membersPerTransaction))
        try plan.readOperations(request, names)
        try plan.evaluate()
        plan.refusals = [:]
        try plan.settle()
        try plan.regrowSchema()
        plan.rollBackIfAtomic()
        return plan
    }

    private static func stamp(_ context: OperationContext) throws(ServerError) -> WriteStamp {
        WriteStamp(
            milliseconds: context.milliseconds, user: try context.requireUser().name,
            device: context.device)
    }

    /// Takes the operations over and reads all records that they name in one call.
    private mutating func readOperations(
        _ request: ModifyRequest, _ names: [RecordName?]
    ) throws(ServerError) {
        var seen: Set<RecordName> = []
        var wanted: [RecordName] = []
        for (index, item) in request.items.enumerated() {
            let name = names[index]
            switch item {
            case .malformed(_, let error):
                steps.append(Step(name: name, request: nil, outcome: .failed(error), share: nil))
            case .operation(let operation):
                var step = Step(name: name, request: operation, outcome: .withdrawn, share: nil)
                if let name, !seen.insert(name).inserted {
                    step.outcome = .failed(
                        ServerError(
                            .badRequest,
                            "operations[\(index)].record.recordName: the request has another "
                                + "operation on this record already."))
                }
                steps.append(step)
                wanted += operation.record.namesToRead
                if let name { wanted.append(name) }
            }
        }
        try overlay.load(wanted, maximumBytes: Self.maximumStoredBytes)
    }

    /// Looks at each operation alone. Those on shares come last, because they need to know what
    /// becomes of the root that may follow them in the request.
    private mutating func evaluate() throws(ServerError) {
        var shares: [Int] = []
        for index in steps.indices where steps[index].error == nil {
            guard let operation = steps[index].request, let name = steps[index].name else {
                continue
            }
            if try isShare(operation, name) {
                shares.append(index)
            } else {
                try catching(index) { plan throws(ServerError) in
                    try plan.evaluate(operation, name, index)
                }
            }
        }
        for index in shares {
            guard let operation = steps[index].request, let name = steps[index].name else {
                continue
            }
            try catching(index) { plan throws(ServerError) in
                try plan.evaluateShare(operation, name, index)
            }
        }
    }

    private mutating func isShare(
        _ operation: RecordOperation, _ name: RecordName
    ) throws(ServerError) -> Bool {
        if operation.record.type == .share { return true }
        return try visibleRecord(name)?.type == .share
    }

    /// An error of `body` fails the operation; a fault of the server fails the request.
    mutating func catching(
        _ index: Int, _ body: (inout ModifyPlan) throws(ServerError) -> Void
    ) throws(ServerError) {
        do throws(ServerError) {
            try body(&self)
        } catch {
            guard !error.isFault else { throw error }
            fail(index, error)
        }
    }

    mutating func fail(_ index: Int, _ error: ServerError) {
        guard steps[index].error == nil else { return }
        refusals[index] = Refusal(outcome: steps[index].outcome, share: steps[index].share)
        steps[index].outcome = .failed(error)
        steps[index].share = nil
    }

    /// The types and fields that only failed operations brought are no part of the schema.
    private mutating func regrowSchema() throws(ServerError) {
        guard hasSchemaGrown, steps.contains(where: { $0.error != nil }) else { return }
        schema = try ContainerSchema.current(context.container, transaction)
        hasSchemaGrown = false
        for step in steps {
            guard case .saved(let plan) = step.outcome, let request = step.request else { continue }
            _ = try resolve(request.record.fields, type: plan.record.type, path: "")
        }
    }

    private mutating func rollBackIfAtomic() {
        guard isAtomic, steps.contains(where: { $0.error != nil }) else { return }
        for index in steps.indices {
            fail(
                index,
                ServerError(
                    .atomicError,
                    "Nothing was changed, because another operation of this atomic request failed."
                ))
        }
        overlay.planned = [:]
        removedShares = [:]
        released = [:]
        trees = PlannedTrees(room: 0)
        hasSchemaGrown = false
    }

    /// Whether anything is to be written.
    var hasEffect: Bool {
        steps.contains { step in
            switch step.outcome {
            case .saved, .deleted, .left: true
            case .failed, .withdrawn: false
            }
        }
    }
}

extension ServerError {
    /// Whether it says nothing about the request: the whole of it fails, and may be tried again.
    var isFault: Bool { code == .internalError || code == .tryAgainLater }
}

extension RecordDictionary {
    /// The other records that an operation on this one looks at.
    fileprivate var namesToRead: [RecordName] {
        var names: [RecordName] = []
        if case .record(let parent) = parent { names.append(parent) }
        if let root = share?.root { names.append(root) }
        for field in fields {
            for value in field.value?.elements ?? [] {
                if case .reference(let reference) = value, reference.action == .validate {
                    names.append(reference.name)
                }
            }
        }
        return names
    }
}
