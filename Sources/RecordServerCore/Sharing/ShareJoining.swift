import RecordModel
import RecordWire

/// Implements records/resolve and records/accept (CloudKit Web Services Reference, Fetching Record
/// Information and Accepting Share Records).
struct ShareJoining: Sendable {
    let resources: ServiceResources

    /// Answers records/resolve: the share of each short GUID, for a user who may join or has
    /// joined.
    func resolveShortGUIDs(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let requests = try ShortGUIDRequest.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        let user = try context.requireUser()
        let items = try await resources.storage.read { reader throws(ServerError) in
            var items: [JSONBytes] = []
            for request in requests {
                items.append(try self.resolve(request, user, context, reader))
            }
            return items
        }
        return AnswerWriter.object { answer in answer.member("results", items) }
    }

    /// Answers records/accept: joins each share. Its zone, or the hierarchy in it, appears in the
    /// caller's shared database. Each share has a transaction of its own.
    func acceptShortGUIDs(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let requests = try ShortGUIDRequest.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        let user = try context.requireUser()
        var items: [JSONBytes] = []
        for request in requests {
            let seed = RandomIDs()
            do throws(ServerError) {
                let (item, notice) = try await resources.storage.write {
                    transaction throws(ServerError) in
                    var ids = seed
                    return try self.accept(request, user, context, ids: &ids, transaction)
                }
                items.append(item)
                if let notice { resources.push.publish(notice) }
            } catch {
                guard !error.isFault else { throw error }
                items.append(error.shortGUIDItem(request.value, context))
            }
        }
        return AnswerWriter.object { answer in answer.member("results", items) }
    }

    private func resolve(
        _ request: ShortGUIDRequest, _ user: UserRow, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> JSONBytes {
        do throws(ServerError) {
            guard let share = try LinkedShare.find(context.container, request.value, reader),
                let zone = try reader.zone(share.zone)
            else { throw ShareRules.unknownShortGUID }
            let standing = ShareStanding(of: user, in: share, by: request.value)
            if case .stranger(let others) = standing {
                return ShareRules.unknownShortGUID.shortGUIDItem(
                    request.value, context, others: others)
            }
            return try ShareResult(
                request: request, share: share, zone: zone, user: user, context: context,
                resources: resources
            ).bytes(reader)
        } catch {
            guard !error.isFault else { throw error }
            return error.shortGUIDItem(request.value, context)
        }
    }

    private func accept(
        _ request: ShortGUIDRequest, _ user: UserRow, _ context: OperationContext,
        ids: inout RandomIDs, _ transaction: any StorageTransaction
    ) throws(ServerError) -> (JSONBytes, ChangeNotice?) {
        // The zone's lock comes first. Values that were read before it may have changed since.
        guard
            let (share, zone) = try LinkedShare.lock(
                context.container, request.value, transaction)
        else { throw ShareRules.unknownShortGUID }
        let joined = try ShareRules.join(
            share, by: request.value, user, milliseconds: context.milliseconds, resources.settings,
            ids: &ids)
        var notice: ChangeNotice?
        if joined != share {
            try requireRoom(for: share.zone, user, context, transaction)
            let stamp = WriteStamp(
                milliseconds: context.milliseconds, user: user.name, device: context.device)
            notice = try LinkedShare.save(joined, old: share, zone, stamp, ids: &ids, transaction)
        }
        let item = try ShareResult(
            request: request, share: joined, zone: zone, user: user, context: context,
            resources: resources
        ).bytes(transaction)
        return (item, notice)
    }

    /// Checks the number of shared zones: a shared database has at most as many zones as a private
    /// one.
    private func requireRoom(
        for zone: ZoneKey, _ user: UserRow, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) {
        guard try reader.sharedZone(user.name, zone) == nil else { return }
        let count = try reader.sharedZones(user.name, context.container).count
        guard count < resources.settings.zonesPerDatabase else {
            throw ServerError(
                .limitExceeded,
                "The shared database has \(resources.settings.zonesPerDatabase) zones, and takes no more."
            )
        }
    }
}

extension ServerError {
    /// Returns the error of one short GUID, with as much of the invitations to other addresses as
    /// the caller could recognise (Protocol, "Sharing").
    func shortGUIDItem(
        _ value: Text, _ context: OperationContext, others: [ParticipantRow] = []
    ) -> JSONBytes {
        let matches = others.map(MaskedContact.potentialMatch)
        return JSONBytes(
            AnswerWriter.object { answer in
                answer.member("shortGUID", object: { answer in answer.member("value", value) })
                answer.member("serverErrorCode", code.rawValue)
                answer.member("reason", reason)
                answer.member("uuid", context.requestID)
                if !matches.isEmpty { answer.member("potentialMatchList", matches) }
            })
    }
}
