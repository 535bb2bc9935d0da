import RecordModel
import RecordWire

/// Answers the operations that read changes: of zones and of databases.
struct ChangeFeeds: Sendable {
    let resources: ServiceResources

    /// The number at which a count of the remaining entries stops.
    private static let maximumTotal = 1_000_000
    /// The most bytes of all pages of one answer together. The client has to ask again for zones
    /// beyond it.
    private static let maximumFeedBytes = 8 << 20

    /// Answers records/changes: one zone, whose errors are those of the request
    /// (CloudKit Web Services Reference, Fetching Record Changes).
    func recordChanges(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let json = JSONReader(body)
        let extensions = try FeedExtensions(json, context, resources.settings)
        var request = try ZoneChangesRequest(json, limits: resources.settings.requestLimits)
        request.resultsLimit = extensions.limit(request.resultsLimit)
        let asked = request
        return try await resources.storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(asked.zone, context, reader)
            return try AnswerWriter.answer { answer throws(ServerError) in
                try self.writePage(asked, access, extensions, context, reader, to: &answer)
            }
        }
    }

    /// Answers changes/zone: a page for each zone, or its error (CloudKit Web Services Reference,
    /// Fetching Record Zone Changes).
    func zoneChanges(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let json = JSONReader(body)
        let extensions = try FeedExtensions(json, context, resources.settings)
        let requests = try ZoneChangesRequest.list(json, limits: resources.settings.requestLimits)
        return try await resources.storage.read { reader throws(ServerError) in
            try AnswerWriter.answer { answer throws(ServerError) in
                answer.key("zones")
                var complete: ZoneKey?
                try answer.array { answer throws(ServerError) in
                    for request in requests {
                        var request = request
                        request.resultsLimit = extensions.limit(request.resultsLimit)
                        complete = try self.writeZone(
                            request, extensions, context, reader, to: &answer)
                    }
                }
                if let known = extensions.knownDatabaseToken, context.scope == .private,
                    requests.count == 1, let complete
                {
                    answer.member(
                        "databaseSyncToken",
                        try DatabaseToken.behind(complete, known: known, resources.seal, reader))
                }
                if extensions.wantsRestorePoint {
                    answer.member(
                        "restorePoint", StoredRecord.changeTag(try reader.firstPosition()))
                }
            }
        }
    }

    /// Writes the page of one zone.
    ///
    /// - Returns: the zone when the answer has all of its changes.
    private func writeZone(
        _ request: ZoneChangesRequest, _ extensions: FeedExtensions, _ context: OperationContext,
        _ reader: any StorageReader, to answer: inout AnswerWriter
    ) throws(ServerError) -> ZoneKey? {
        let mark = answer.mark
        do throws(ServerError) {
            let access = try ZoneAccess.open(request.zone, context, reader)
            var isComplete = false
            try answer.object { answer throws(ServerError) in
                answer.member("zoneID", access.identifier)
                isComplete = try writePage(
                    request, access, extensions, context, reader, to: &answer,
                    maximumBytes: Self.maximumFeedBytes)
            }
            return isComplete ? access.zone.key : nil
        } catch {
            guard !error.isFault else { throw error }
            answer.goBack(to: mark)
            answer.value(error.item(request.zone, context))
            return nil
        }
    }

    /// Writes one page.
    ///
    /// - Returns: whether nothing comes after it.
    @discardableResult
    private func writePage(
        _ request: ZoneChangesRequest, _ access: ZoneAccess, _ extensions: FeedExtensions,
        _ context: OperationContext, _ reader: any StorageReader, to answer: inout AnswerWriter,
        maximumBytes: Int = ChangeFeeds.maximumFeedBytes
    ) throws(ServerError) -> Bool {
        var token = try ZoneToken.open(request.syncToken, access: access, seal: resources.seal)
        let wantsAll = extensions.wantsDeletions
        let isAsked = wantsAll || request.syncToken == nil && extensions.wantsRestorePoint
        let restorePoint = isAsked ? try reader.firstPosition() : 0
        if request.syncToken == nil, restorePoint > 0 {
            token = .beginning(of: access, deletionsBehind: wantsAll ? 0 : restorePoint)
        }
        var page = FeedPage(
            request, access: access, token: token, context: context, reader: reader)
        page.tellsMoves = extensions.wantsMoves
        if wantsAll { page.restorePoint = restorePoint }
        var printer = RecordPrinter(
            resources: resources, access: access, context: context, projection: request.projection,
            reader: reader)
        if request.projection.wantsSplices, request.syncToken != nil {
            printer.knownPosition = token.position
        }
        answer.key("records")
        try answer.array { answer throws(ServerError) in
            try page.write(&printer, maximumBytes: maximumBytes, to: &answer)
        }
        answer.member("moreComing", !page.isComplete)
        answer.member("syncToken", page.nextToken.sealed(resources.seal))
        if page.isReversed, context.dialect == .webServices { answer.member("reverse", true) }
        if extensions.wantsTotal {
            answer.member("total", try total(after: token, access, reader))
        }
        return page.isComplete
    }

    /// Returns how many entries a client that continues from `token` will get.
    private func total(
        after token: ZoneToken, _ access: ZoneAccess, _ reader: any StorageReader
    ) throws(ServerError) -> Int {
        guard access.exists else { return 0 }
        // A client that starts from nothing gets no tombstones.
        if token.position == 0, access.visibleShares == nil {
            return Int(clamping: access.zone.recordCount)
        }
        return try reader.countChanges(
            access.zone.handle, after: token.position, shares: access.visibleShares,
            limit: Self.maximumTotal)
    }

    /// Answers changes/database (CloudKit Web Services Reference, Fetching Database Changes).
    func databaseChanges(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let page = try await databasePage(body, context)
        return AnswerWriter.object { answer in
            answer.member("zones", page.zones)
            answer.member("syncToken", page.token)
            answer.member("moreComing", page.moreComing)
            if let quotas = page.quotas { answer.member("quotas", quotas) }
            if let invitations = page.invitations { answer.member("invitations", invitations) }
            answer.member("invitationsMarker", page.invitationsMarker)
        }
    }

    /// Answers zones/changes (CloudKit Web Services Reference, Fetching Zone Changes). Its token is
    /// `metaSyncToken`, and `syncToken` in the text of that page.
    func zonesChanges(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let page = try await databasePage(body, context)
        return AnswerWriter.object { answer in
            answer.member("zones", page.zones)
            answer.member("metaSyncToken", page.token)
            answer.member("syncToken", page.token)
            answer.member("moreComing", page.moreComing)
        }
    }

    private func databasePage(
        _ body: JSONValue, _ context: OperationContext
    ) async throws(ServerError) -> DatabasePage {
        let json = JSONReader(body)
        let extensions = try FeedExtensions(json, context, resources.settings)
        var request = try DatabaseChangesRequest(json, limits: resources.settings.requestLimits)
        request.resultsLimit = extensions.limit(request.resultsLimit)
        let asked = request
        return try await resources.storage.read { reader throws(ServerError) in
            try DatabasePage(asked, extensions, context, resources.settings, resources.seal, reader)
        }
    }
}
