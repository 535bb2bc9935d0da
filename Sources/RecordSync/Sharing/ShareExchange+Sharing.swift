import RecordModel
import RecordStore
import RecordWire

/// Requests to the server about shares. None of them waits in the outbox: the server decides about
/// access, and a link that nobody can open yet is of no use.
extension ShareExchange {
    /// A share that others change at the same time is read and changed again, at most so many
    /// times.
    private static let attempts = 5

    /// Joins the share of a link. Errors also: `refused` with NOT_FOUND when the link has no share,
    /// or its share is not open to this account.
    func accept(_ guid: Text) async throws(SyncProblem) -> LinkedPlace {
        let body = ShortGUIDRequest.body([ShortGUIDRequest(value: guid)])
        let answers = try await exchange.transport.send(.recordsAccept, .public, body) {
            json throws(ServerError) in try LinkAnswer.list(json)
        }
        switch answers.first {
        case .place(let place)?:
            try exchange.write { transaction throws(RecordError) in
                try transaction.sharing.removeInvitation(place.share.shortGUID ?? guid)
            }
            return place
        case .failed(let error)?: throw .refused(error)
        case nil: throw .unreadable("records/accept answers for no link.")
        }
    }

    /// Asks for access to the share of a link. The server does not say whether there is a share,
    /// nor how the request is answered.
    func requestAccess(_ guid: Text) async throws(SyncProblem) {
        _ = try await exchange.transport.send(
            .recordsRequestAccess, .public, ShortGUIDRequest.accessBody(guid))
    }

    /// Declines the invitation of a link. Errors also: `refused` with NOT_FOUND when the link does
    /// not invite this account, or when the account has accepted.
    func decline(_ guid: Text) async throws(SyncProblem) {
        let body = ShortGUIDRequest.body([ShortGUIDRequest(value: guid)])
        let errors = try await exchange.transport.send(.recordsDecline, .public, body) {
            json throws(ServerError) in
            try json.required("results").array().map { (item) throws(ServerError) in
                try WireError(item)
            }
        }
        guard let error = errors.first else {
            throw .unreadable("records/decline answers for no link.")
        }
        if let error { throw .refused(error) }
    }

    /// Makes or changes the share of a zone, or of a record with its children.
    ///
    /// - Parameter isNew: whether the share must not exist yet.
    func edit(
        _ edit: ShareEdit, of root: RecordName?, in zone: SyncedZone, isNew: Bool
    ) async throws(SyncProblem) -> ShareAnswer {
        for _ in 0..<Self.attempts {
            let (current, rootTag) = try await shareRecord(of: root, in: zone)
            if let problem = Self.problem(isNew: isNew, isThere: current != nil) {
                throw .store(problem)
            }
            var operation = try operation(edit, of: root, current)
            operation.record.share?.rootChangeTag = rootTag
            guard let record = try await save(operation, in: zone) else { continue }
            let answer = try readable(record)
            if let share = share(record) {
                try exchange.write { transaction throws(RecordError) in
                    try transaction.sharing.noteShare(share, of: zone.id)
                }
            }
            if let problem = edit.problem(with: answer) { throw .store(problem) }
            return answer
        }
        throw .store(
            RecordError(.timedOut, "others change the share at the same time. Try again."))
    }

    private static func problem(isNew: Bool, isThere: Bool) -> RecordError? {
        guard isNew == isThere else { return nil }
        return isNew
            ? RecordError(
                .alreadyExists, "it is shared already. recordfs share show lists the participants.")
            : RecordError(.notFound, "it is not shared. recordfs share create does that.")
    }

    /// Ends a share of this account, or leaves a share of others.
    func endShare(
        of root: RecordName?, in zone: SyncedZone
    ) async throws(SyncProblem) {
        guard let current = try await shareRecord(of: root, in: zone).share else {
            throw .store(RecordError(.notFound, "it is not shared."))
        }
        var record = RecordDictionary(name: current.name, type: .share)
        record.changeTag = current.changeTag
        let operation = RecordOperation(type: .forceDelete, record: record)
        if case .failed(_, let error) = try await modify(operation, in: zone) {
            throw .refused(error)
        }
        // A share of others is removed with its records, which the feed removes.
        guard exchange.database == .private else { return }
        try exchange.write { transaction throws(RecordError) in
            try transaction.sharing.noteShareEnded(current.name, of: zone.id)
        }
    }

    /// Returns the server's current state of the share. Returns nil when there is none.
    func share(
        of root: RecordName?, in zone: SyncedZone
    ) async throws(SyncProblem) -> ShareAnswer? {
        guard let record = try await shareRecord(of: root, in: zone).share else { return nil }
        return try readable(record)
    }

    /// Returns the record of the share with the tag of the root. By the tag the server sees that
    /// the same record is meant.
    private func shareRecord(
        of root: RecordName?, in zone: SyncedZone
    ) async throws(SyncProblem) -> (share: RecordAnswer?, rootTag: Text?) {
        guard let root else { return (try await record(.zoneShare, in: zone), nil) }
        guard let answer = try await record(root, in: zone) else {
            throw .store(
                RecordError(
                    .notFound, "the server does not have it. recordfs sync prints the problem."))
        }
        guard let name = answer.share else { return (nil, answer.changeTag) }
        return (try await record(name, in: zone), answer.changeTag)
    }

    private func record(
        _ name: RecordName, in zone: SyncedZone
    ) async throws(SyncProblem) -> RecordAnswer? {
        for item in try await exchange.lookUp([name], in: zone) {
            switch item {
            case .record(let answer): return answer
            case .deleted: return nil
            case .failed(_, let error) where Reaction(error) == .remake: return nil
            case .failed(_, let error): throw .refused(error)
            case .unreadable(let error):
                throw .unreadable("records/lookup: \(error.reason)")
            }
        }
        return nil
    }

    private func readable(_ record: RecordAnswer) throws(SyncProblem) -> ShareAnswer {
        do throws(ServerError) {
            return try ShareAnswer(record)
        } catch {
            throw .unreadable("the share cannot be read: \(error.reason)")
        }
    }

    private func operation(
        _ edit: ShareEdit, of root: RecordName?, _ current: RecordAnswer?
    ) throws(SyncProblem) -> RecordOperation {
        var record = RecordDictionary(
            name: current?.name ?? Self.name(ofShareOf: root), type: .share)
        record.changeTag = current?.changeTag
        record.fields = edit.fields
        var share = ShareDictionary()
        share.publicPermission = edit.publicPermission
        let known = try current.map { (record) throws(SyncProblem) in try readable(record) }
        do throws(RecordError) {
            share.participants = try edit.participants(of: known)
            try edit.answerRequests(&share, known)
        } catch {
            throw .store(error)
        }
        if current == nil { share.root = root }
        record.share = share
        return RecordOperation(type: current == nil ? .create : .update, record: record)
    }

    /// Returns the name of a new share. Apple's clients use this name where they have the choice.
    private static func name(ofShareOf root: RecordName?) -> RecordName {
        root.map { RecordName(bytes: Array("share-".utf8) + $0.bytes) } ?? .zoneShare
    }

    /// Saves the share. Returns nil when somebody else has changed the share in the meantime.
    private func save(
        _ operation: RecordOperation, in zone: SyncedZone
    ) async throws(SyncProblem) -> RecordAnswer? {
        switch try await modify(operation, in: zone) {
        case .record(let answer): return answer
        case .failed(_, let error):
            guard Reaction(error) == .merge else {
                throw .refused(error)
            }
            return nil
        case .deleted, nil:
            throw .unreadable("records/modify does not answer with the share.")
        case .unreadable(let error): throw .unreadable("records/modify: \(error.reason)")
        }
    }

    private func modify(
        _ operation: RecordOperation, in zone: SyncedZone
    ) async throws(SyncProblem) -> RecordItem? {
        var request = ModifyRequest(items: [.operation(operation)], zone: ZoneIdentifier(zone))
        request.projection = exchange.projection
        return try await exchange.transport.send(.recordsModify, exchange.scope, request.bytes) {
            json throws(ServerError) in try RecordsAnswer(json)
        }.items.first
    }
}
