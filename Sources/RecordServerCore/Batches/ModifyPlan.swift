import RecordModel
import RecordWire

/// The plan of a records/modify. It is made in memory from the rows that the transaction has read,
/// before anything is written (Protocol, "Records and saves").
///
/// Each operation is first evaluated alone: change tags, types, fields, rights. Then the batch is
/// settled as a whole: parents and reference targets, consequences of deletions, membership in
/// shares, quota. An operation that is not possible is marked, and the rest is settled again
/// without it, so that the order of parents and children inside a batch does not matter. A batch
/// has at most one operation for each record.
struct ModifyPlan {
    /// The most bytes that the records which a request names may have together, as stored.
    private static let maximumStoredBytes = 32 << 20

    /// One operation of the request with its outcome.
    struct Step {
        enum Outcome {
            // The plan reads its steps again and again, and each read copies everything that is not
            // behind a reference.
            indirect case failed(ServerError)
            indirect case saved(PlannedRecord)
            /// The record as it was.
            indirect case deleted(StoredRecord)
            /// A participant deleted the share record, or the root of that share.
            case left(share: RecordName)
            /// Acknowledged as deleted, without effect.
            case withdrawn
        }

        let name: RecordName?
        let request: RecordOperation?
        var outcome: Outcome
        /// The share after an operation on a `cloudkit.share`.
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
    let resources: ServiceResources
    let transaction: any StorageTransaction
    let isAtomic: Bool
    /// The form in which the request wants to see records.
    let projection: RecordProjection
    let opensNumbers: Bool
    /// The stamp of everything that this batch writes.
    let stamp: WriteStamp
    let visibility: RecordVisibility
    var ids: RandomIDs
    /// The number of people that the batch has invited.
    var invitationCount = 0
    var overlay: RecordOverlay
    var schema: ContainerSchema
    var hasSchemaGrown = false
    var steps: [Step] = []
    /// The shares that end with the batch, each with the operation that causes it.
    var removedShares: [RecordName: Int] = [:]
    /// The first children that stay of each root that the batch deletes together with its share.
    var released: [RecordName: [RecordName]] = [:]
    /// The shares that the batch makes, by their roots.
    var madeShares: [RecordName: MadeShare] = [:]
    /// Indicates whether stored records may move into another share.
    var hasMoves = false
    /// The place of each record after the batch, as far as it was asked for.
    var memberships: [RecordName: Membership] = [:]
    /// The records among them whose descendants all move to the same place.
    var takenAlong: Set<RecordName> = []
    var trees: PlannedTrees
    /// The refusals of operations that have failed since all were evaluated alone.
    var refusals: [Int: Refusal] = [:]
    /// The number of refusals that were taken back.
    var reconsiderations = 0

    var settings: ServiceSettings { resources.settings }
    var zone: ZoneKey { access.zone.key }
    var isParticipant: Bool {
        if case .participant = access.view { true } else { false }
    }

    /// Makes the whole plan. Errors: only those of the whole request; those of operations are in
    /// `steps`.
    static func make(
        _ request: ModifyRequest, names: [RecordName?], access: ZoneAccess,
        context: OperationContext, resources: ServiceResources, ids: RandomIDs,
        transaction: any StorageTransaction
    ) throws(ServerError) -> ModifyPlan {
        var plan = ModifyPlan(
            access: access, context: context, resources: resources, transaction: transaction,
            isAtomic: access.zone.key.isAtomic && request.atomic ?? true,
            projection: request.projection, opensNumbers: request.opensNumbers,
            stamp: try stamp(context),
            visibility: try RecordVisibility(access, context, transaction),
            ids: ids,
            overlay: RecordOverlay(
                zone: access.zone.handle, reader: transaction, context: context),
            schema: try ContainerSchema.current(context.container, transaction),
            trees: PlannedTrees(room: resources.settings.membersPerTransaction))
        try plan.readOperations(request, names)
        try plan.evaluate()
        plan.refusals = [:]
        try plan.complete()
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

    /// Evaluates each operation alone. Operations on shares come last, because they need the
    /// outcome for the root, which may follow them in the request.
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

    /// Runs `body`. An error of `body` fails the operation; a fault of the server fails the
    /// request.
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

    /// Makes the schema again without the types and fields that only failed operations brought.
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

    /// Indicates whether anything has to be written.
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
    /// Indicates whether the error says nothing about the request. Then the whole request fails,
    /// and may be tried again.
    var isFault: Bool { code == .internalError || code == .tryAgainLater }
}

extension RecordDictionary {
    /// The names of the other records that an operation on this one reads.
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
