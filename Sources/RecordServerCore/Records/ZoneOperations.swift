import RecordModel
import RecordWire

/// Answers zones/list, zones/lookup and zones/modify.
struct ZoneOperations: Sendable {
    let resources: ServiceResources

    /// Answers zones/list (CloudKit Web Services Reference, Fetching Zones).
    func listZones(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        try await resources.storage.read { reader throws(ServerError) in
            let accesses = try ZoneList.all(context, reader)
            return AnswerWriter.object(capacity: 256 * accesses.count + 64) { answer in
                answer.member("zones", accesses.map { self.zoneAnswer($0, context) })
            }
        }
    }

    /// Answers zones/lookup: an item for each zone, in order.
    func lookupZones(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let zones = try ZoneIdentifier.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        return try await resources.storage.read { reader throws(ServerError) in
            try AnswerWriter.object(capacity: 256 * zones.count + 64) {
                answer throws(ServerError) in
                answer.key("zones")
                try answer.array { answer throws(ServerError) in
                    for zone in zones {
                        do throws(ServerError) {
                            let access = try ZoneAccess.open(zone, context, reader)
                            answer.value(self.zoneAnswer(access, context))
                        } catch {
                            guard !error.isFault else { throw error }
                            answer.value(error.item(zone, context))
                        }
                    }
                }
            }
        }
    }

    /// Answers zones/modify: every operation is tried, in order. Creating a zone that exists is
    /// harmless.
    func modifyZones(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let operations = try ZoneOperation.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        let drawn = RandomIDs()
        let outcome = try await resources.storage.write { transaction throws(ServerError) in
            var ids = drawn
            var notices: [ChangeNotice] = []
            var seen: Set<ZoneIdentifier> = []
            let answer = try AnswerWriter.object { answer throws(ServerError) in
                answer.key("zones")
                try answer.array { answer throws(ServerError) in
                    for operation in operations {
                        do throws(ServerError) {
                            guard seen.insert(operation.zone).inserted else {
                                throw ServerError(
                                    .badRequest,
                                    "The request has another operation on this zone already.")
                            }
                            let change = try self.modify(operation, context, &ids, transaction)
                            answer.value(change.answer)
                            if let notice = change.notice { notices.append(notice) }
                        } catch {
                            guard !error.isFault else { throw error }
                            answer.value(error.item(operation.zone, context))
                        }
                    }
                }
            }
            return (answer: answer, notices: notices)
        }
        for notice in outcome.notices { resources.push.publish(notice) }
        return outcome.answer
    }

    private func modify(
        _ operation: ZoneOperation, _ context: OperationContext, _ ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> (answer: ZoneAnswer, notice: ChangeNotice?) {
        switch operation.type {
        case .create: return try create(operation.zone, context, &ids, transaction)
        case .delete: return try delete(operation, context, &ids, transaction)
        }
    }

    private func create(
        _ zone: ZoneIdentifier, _ context: OperationContext, _ ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> (answer: ZoneAnswer, notice: ChangeNotice?) {
        guard context.scope == .private else {
            throw ServerError(
                .badRequest, "Zones are made in the private database; shares bring them here.")
        }
        let user = try context.requireUser()
        guard zone.owner == nil || zone.owner == .defaultOwner || zone.owner == user.name else {
            throw ZoneAccess.notFound(zone)
        }
        let database = DatabaseKey(container: context.container, owner: user.name)
        let key = ZoneKey(database: database, zone: zone.zone)
        if key.isDefaultZone {
            let access = try ZoneAccess.open(zone, context, transaction)
            return (zoneAnswer(access, context), nil)
        }
        if let row = try transaction.lockZone(key) {
            return (zoneAnswer(ZoneAccess(zone: row, view: .owner, user: user), context), nil)
        }
        guard try transaction.zones(database).count < resources.settings.zonesPerDatabase else {
            throw ServerError(
                .limitExceeded,
                "A private database has at most \(resources.settings.zonesPerDatabase) zones.")
        }
        let row = try transaction.createZone(key, incarnation: ids.incarnation())
        return (
            zoneAnswer(ZoneAccess(zone: row, view: .owner, user: user), context),
            ChangeNotice(zone: key, changes: [], viewers: [])
        )
    }

    /// Deletes the zone with its content for its owner; a participant leaves its shares.
    private func delete(
        _ operation: ZoneOperation, _ context: OperationContext, _ ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> (answer: ZoneAnswer, notice: ChangeNotice?) {
        let zone = operation.zone
        guard zone.zone != ZoneIdentifier.defaultZone.zone else {
            throw ServerError(.badRequest, "The default zone cannot be deleted.")
        }
        let access = try ZoneAccess.open(zone, context, transaction)
        let key = access.zone.key
        let viewers = try transaction.viewers(key).map(\.viewer).sorted()
        var invitees: Set<UserName> = []
        if case .participant(let shared, _) = access.view {
            try leave(shared, context, &ids, transaction)
        } else {
            guard let row = try transaction.lockZone(key) else { throw ZoneAccess.notFound(zone) }
            guard !operation.onlyEmpty || row.recordCount == 0 else {
                throw ServerError(.conflict, "The zone has records: fetch its changes.")
            }
            for share in try transaction.shares(key) {
                invitees.formUnion(try ShareRules.invitees(old: share, new: nil, transaction))
            }
            try ShareRules.endViews(of: key, reason: .deleted, transaction)
            try transaction.deleteZone(row, reason: .deleted)
        }
        return (
            ZoneAnswer(access.identifier, isDeleted: true, dialect: context.dialect),
            ChangeNotice(
                zone: key, changes: [], viewers: viewers, invitees: invitees.sorted())
        )
    }

    /// Removes the user from every share of the zone. The share records change for the participants
    /// who stay.
    private func leave(
        _ shared: SharedZoneRow, _ context: OperationContext, _ ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        guard var row = try transaction.lockZone(shared.zone) else { return }
        let user = try context.requireUser().name
        let records = try transaction.records(row.handle, shared.shares)
        for name in shared.shares {
            guard let share = try transaction.share(shared.zone, name) else { continue }
            try ShareRules.apply(
                old: share, new: ShareRules.leave(share, user), ids: &ids, transaction)
            guard var record = records[name], !record.isDeleted else { continue }
            row.position += 1
            record.position = row.position
            record.tag = row.position
            record.modified = WriteStamp(
                milliseconds: context.milliseconds, user: user, device: context.device)
            try transaction.put(row.handle, record)
        }
        try transaction.updateZone(row)
    }

    private func zoneAnswer(_ access: ZoneAccess, _ context: OperationContext) -> ZoneAnswer {
        ZoneAnswer(
            access.identifier,
            syncToken: context.scope == .public
                ? nil : ZoneToken.current(access).sealed(resources.seal),
            isAtomic: access.zone.key.isAtomic, dialect: context.dialect)
    }
}

extension ServerError {
    /// Returns the item of one zone in an answer.
    func item(_ zone: ZoneIdentifier, _ context: OperationContext) -> ErrorAnswer {
        item(zone: zone, requestID: context.requestID, dialect: context.dialect)
    }
}
