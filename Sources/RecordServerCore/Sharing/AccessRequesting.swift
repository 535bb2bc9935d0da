package import Logging
package import RecordModel
package import RecordWire

/// Implements records/requestAccess, an extension: Apple's clients have the operation, its web
/// services do not.
package struct AccessRequesting: Sendable {
    let resources: ServiceResources

    /// The most short GUIDs of one request, which counts as one at the throttle.
    private static let maximumAccessRequests = 10

    /// Asks the owners for access to the share of each short GUID.
    ///
    /// The answer is the same for every outcome: asked, denied, full, in the share already, or
    /// nothing there. The user learns the outcome only when they get access.
    func requestAccess(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        try requireExtensions(context)
        var limits = resources.settings.requestLimits
        limits.maximumItems = min(limits.maximumItems, Self.maximumAccessRequests)
        let requests = try ShortGUIDRequest.list(JSONReader(body), limits: limits)
        let user = try context.requireUser()
        for request in requests {
            try await requestAccess(
                request.value, user, milliseconds: context.milliseconds, in: context.container)
        }
        return AnswerWriter.object { answer in
            answer.member(
                "results",
                array: { answer in
                    for request in requests { answer.value(request.item) }
                })
        }
    }

    /// Asks for access to one share.
    ///
    /// - Parameter container: nil for any container, because the addresses of pages do not name
    ///   one.
    package func requestAccess(
        _ value: Text, _ user: UserRow, milliseconds: Int64, in container: ContainerKey?
    ) async throws(ServerError) {
        let seed = RandomIDs()
        let notice = try await resources.storage.write {
            (transaction) throws(ServerError) -> ChangeNotice? in
            // This is written in any case, so that the duration reveals nothing either.
            try transaction.noteAccessRequest(user.name, milliseconds: milliseconds)
            guard
                let (share, zone) = try Self.lockedShare(value, in: container, transaction)
            else { return nil }
            let asked = share.requested(by: user, milliseconds: milliseconds)
            guard asked != share else { return nil }
            var ids = seed
            let stamp = Self.ownersStamp(share, milliseconds: milliseconds)
            return try LinkedShare.save(asked, old: share, zone, stamp, ids: &ids, transaction)
        }
        if let notice { resources.push.publish(notice) }
    }

    /// Answers records/decline, an extension: it does the same as the page of a link.
    func declineShortGUIDs(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        try requireExtensions(context)
        let requests = try ShortGUIDRequest.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        let user = try context.requireUser()
        var items: [JSONBytes] = []
        for request in requests {
            let isDeclined = try await declineShare(
                request.value, user, milliseconds: context.milliseconds, in: context.container)
            items.append(
                isDeclined
                    ? request.item
                    : ShareRules.unknownShortGUID.shortGUIDItem(request.value, context))
        }
        return AnswerWriter.object { answer in answer.member("results", items) }
    }

    private func requireExtensions(_ context: OperationContext) throws(ServerError) {
        guard resources.settings.isStrict else { return }
        throw ServerError(
            .badRequest,
            "\(context.endpoint.rawValue) is none of Apple's operations, and this server is strict."
        )
    }

    /// Removes the invitations of a user who has not accepted any, or a one-time link that nobody
    /// has used. It does nothing else: a participant leaves the share instead.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func declineShare(
        _ value: Text, _ user: UserRow, milliseconds: Int64, in container: ContainerKey
    ) async throws(ServerError) -> Bool {
        let seed = RandomIDs()
        let notice = try await resources.storage.write {
            (transaction) throws(ServerError) -> ChangeNotice? in
            guard let (share, zone) = try LinkedShare.lock(container, value, transaction),
                case .participant(let row) = ShareStanding(of: user, in: share, by: value),
                row.status == .invited
            else { return nil }
            var left = share
            for other in share.present
            where other.participantID == row.participantID || other.means(user) {
                left.forget(other.participantID)
            }
            var ids = seed
            let stamp = Self.ownersStamp(share, milliseconds: milliseconds)
            return try LinkedShare.save(left, old: share, zone, stamp, ids: &ids, transaction)
        }
        if let notice { resources.push.publish(notice) }
        return notice != nil
    }

    /// Reports a share to the operator of the server, in a table and in the log.
    package func reportShare(
        _ value: Text, _ user: UserRow, _ text: Text, milliseconds: Int64,
        in container: ContainerKey, _ logger: Logger
    ) async throws(ServerError) {
        let report = try await resources.storage.write {
            (transaction) throws(ServerError) -> ShareReport? in
            guard let share = try LinkedShare.find(container, value, transaction) else {
                return nil
            }
            let report = ShareReport(
                zone: share.zone, share: share.name, shortGUID: share.shortGUID,
                reporter: user.name, milliseconds: milliseconds, text: text)
            try transaction.putShareReport(report)
            return report
        }
        guard let report else { return }
        // The text is left out, because it may be anything.
        logger.warning(
            "A share was reported",
            metadata: [
                "share": "\(report.shortGUID)", "owner": "\(report.zone.database.owner)",
                "reporter": "\(report.reporter)",
            ])
    }

    /// Returns a stamp of the owner. Every viewer of the record sees who changed it last, and must
    /// not see who asks for access or declines.
    private static func ownersStamp(_ share: ShareRow, milliseconds: Int64) -> WriteStamp {
        WriteStamp(milliseconds: milliseconds, user: share.zone.database.owner, device: "")
    }

    private static func lockedShare(
        _ value: Text, in container: ContainerKey?, _ transaction: any StorageTransaction
    ) throws(ServerError) -> (share: ShareRow, zone: ZoneRow)? {
        if let container { return try LinkedShare.lock(container, value, transaction) }
        for container in try ContainerKey.all(transaction) {
            if let found = try LinkedShare.lock(container, value, transaction) { return found }
        }
        return nil
    }
}

extension ShortGUIDRequest {
    /// An item of an answer that contains only the request it belongs to.
    fileprivate var item: JSONBytes {
        JSONBytes(
            AnswerWriter.object { answer in
                answer.member("shortGUID", object: { $0.member("value", value) })
            })
    }
}
