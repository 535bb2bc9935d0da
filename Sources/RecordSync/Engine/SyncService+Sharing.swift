package import RecordModel
package import RecordStore
import RecordStoreSync
package import RecordWire

/// A zone that is or can be shared, or a record in it with its children.
package struct SharedPlace: Hashable, Sendable {
    package let zone: ZoneInfo
    /// The record. Nil for the whole zone.
    package let root: RecordName?

    package init(zone: ZoneInfo, root: RecordName?) {
        self.zone = zone
        self.root = root
    }

    /// The default title of its share.
    fileprivate var title: Text { Text(utf8: root?.bytes ?? zone.name.bytes) }
}

/// The operations on shares for commands. All of them block until the server has answered and the
/// results are in the store.
extension SyncService {
    /// Joins the share of a link, and downloads it. Errors: invalidArgument for a text that is not
    /// a link; the refusals of the server.
    package func accept(
        link: Text
    ) throws(RecordError) -> (zone: ZoneInfo, share: ShareAnswer) {
        let (guid, engine) = (try Self.shortGUID(of: link), try engine(of: .shared))
        let place = try ask { () async throws(SyncProblem) in
            do throws(SyncProblem) {
                let place = try await engine.exchange.shares.accept(guid)
                await engine.finishDueWork()
                return place
            } catch {
                throw self.explained(error, link)
            }
        }
        let zone =
            place.isOwn
            ? try store.zone(.private, .me, place.zone.zone)
            : try store.syncState.sharedZone(
                of: OwnerName(bytes: place.zone.owner?.bytes ?? []), place.zone.zone)
        guard let zone else {
            throw RecordError(
                .unavailable,
                status.isPaused
                    ? "it is accepted, and will be here when the exchange continues: recordfs resume."
                    : "it is accepted, and will be here when it was fetched. recordfs sync prints the "
                        + "problem.")
        }
        return (zone, place.share)
    }

    /// Declines an invitation. When this returns, the invitation is no longer known. Errors:
    /// invalidArgument for a text that is not a link; notFound when the link does not invite this
    /// account, or when the account has accepted.
    package func decline(link: Text) throws(RecordError) {
        let guid = try Self.shortGUID(of: link)
        try requireExtensions("takes no answer to invitations but their acceptance")
        let engine = try engine(of: .shared)
        try ask { () async throws(SyncProblem) in
            do throws(SyncProblem) {
                try await engine.exchange.shares.decline(guid)
                await engine.finishDueWork()
            } catch {
                guard case .refused(let refusal) = error, refusal.code == .notFound else {
                    throw error
                }
                throw .store(
                    RecordError(
                        .notFound,
                        "this account has no invitation there. recordfs shares lists them; "
                            + "recordfs leave ends an accepted share."))
            }
        }
    }

    private func requireExtensions(_ lack: String) throws(RecordError) {
        guard account.profile != .recordfs else { return }
        throw RecordError(.unsupported, "the server of this account \(lack).")
    }

    /// Asks for access to the share of a link. The caller does not learn whether the share exists
    /// or how the request is answered. A person who is admitted then accepts the link. Errors:
    /// invalidArgument for a text that is not a link.
    package func requestAccess(link: Text) throws(RecordError) {
        let guid = try Self.shortGUID(of: link)
        try requireExtensions("takes no requests for access")
        let engine = try engine(of: .shared)
        try ask { () async throws(SyncProblem) in
            try await engine.exchange.shares.requestAccess(guid)
        }
    }

    /// Returns a better explanation for a link that the server does not know, for example a link of
    /// another server.
    private func explained(_ problem: SyncProblem, _ link: Text) -> SyncProblem {
        guard case .refused(let error) = problem, error.code == .notFound else { return problem }
        let isElsewhere =
            link.string.contains("://") && !link.string.hasPrefix(account.server + "/")
        return .store(
            RecordError(
                .notFound,
                isElsewhere
                    ? "this account is at \(account.server), which knows no such share. The link is "
                        + "of another server, or the server has another name in it."
                    : "nothing is shared with this account there (NOT_FOUND). Its owner can invite "
                        + "you; recordfs accept --request asks for that."))
    }

    /// Returns the server's current state of a share. Errors: notFound when there is no share.
    package func share(at place: SharedPlace) throws(RecordError) -> ShareAnswer {
        let (engine, zone) = (try engine(of: place.zone.database), try synced(place.zone))
        let share = try ask { () async throws(SyncProblem) in
            try await engine.exchange.shares.share(of: place.root, in: zone)
        }
        guard let share else { throw RecordError(.notFound, "it is not shared.") }
        return share
    }

    /// Returns the people and links that would lose access by an edit. An edit of nil stands for
    /// the end of the share, or for leaving it.
    ///
    /// Errors: as those of `edit` and `endShare`, as far as they are known without an attempt by
    /// the server.
    package func preview(
        _ edit: ShareEdit?, at place: SharedPlace
    ) throws(RecordError) -> ShareEditPreview {
        let share = try share(at: place)
        let isOfOthers = place.zone.database == .shared
        let loss =
            if let edit {
                try ShareLoss(edit, of: share)
            } else {
                isOfOthers ? ShareLoss(leaving: share) : ShareLoss(endOf: share)
            }
        return ShareEditPreview(
            share: share, loss: loss,
            extent: try store.upkeep.extent(of: place.root, in: place.zone.id),
            goes: edit == nil && isOfOthers)
    }

    /// - Parameter isNew: whether the share must not exist yet.
    package func edit(
        _ edit: ShareEdit, at place: SharedPlace, isNew: Bool
    ) throws(RecordError) -> ShareAnswer {
        let (engine, zone) = (try engine(of: place.zone.database), try synced(place.zone))
        var wanted = edit
        if isNew, place.root == nil { try checkPrivacy(of: place.zone) }
        if isNew { wanted.title = edit.title ?? place.title }
        return try ask { [wanted] () async throws(SyncProblem) in
            // A record must be on the server before it can be shared.
            if isNew { await engine.finishDueWork() }
            let share = try await engine.exchange.shares.edit(
                wanted, of: place.root, in: zone, isNew: isNew)
            await engine.finishDueWork()
            return share
        }
    }

    /// Refuses to share a zone with objects that stay with their user.
    private func checkPrivacy(of zone: ZoneInfo) throws(RecordError) {
        let (objects, others) = try store.model.privateObjects(in: zone.id)
        guard !objects.isEmpty else { return }
        let names = objects.joined(separator: ", ")
        throw RecordError(
            .invalidArgument,
            "it has objects that stay with you (recordfs.private in the model): \(names)"
                + "\(others ? " and more" : ""). Move them to another zone, or share objects with "
                + "recordfs share create PATH: these stay then.")
    }

    /// Makes or changes a share to match the text of its file.
    ///
    /// Errors also: those of `ShareText.edit`.
    package func save(shareText text: [UInt8], at place: SharedPlace) throws(RecordError) {
        let known = try store.sharing.share(of: place.root, in: place.zone.id)
        let current = try known.map { (share) throws(RecordError) in
            try JSONParser.parse(share.text)
        }
        guard let edit = try ShareText.edit(text, since: current) else { return }
        let role = current?["role"]?.string
        if place.zone.database == .shared, role != "OWNER", role != "ADMINISTRATOR" {
            throw RecordError(
                .accessDenied,
                "only its owner, and who may invite others, change the share. rm leaves it, and so does "
                    + "recordfs leave.")
        }
        _ = try self.edit(edit, at: place, isNew: current == nil)
    }

    package func endShare(at place: SharedPlace) throws(RecordError) {
        let (engine, zone) = (try engine(of: place.zone.database), try synced(place.zone))
        try ask { () async throws(SyncProblem) in
            try await engine.exchange.shares.endShare(of: place.root, in: zone)
            await engine.finishDueWork()
            // After leaving a share nothing of it stays on this machine, also while the exchange is
            // paused.
            if self.status.isPaused, zone.database == .shared {
                try await engine.exchange.work(zone.id, downloads: true, uploads: false)
            }
        }
    }

    private func synced(_ zone: ZoneInfo) throws(RecordError) -> SyncedZone {
        guard let synced = try store.syncState.syncedZone(zone.id) else {
            throw RecordError(.notFound, "the zone is gone.")
        }
        return synced
    }

    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async throws(SyncProblem) -> Answer
    ) throws(RecordError) -> Answer {
        let result = blocking { () -> Result<Answer, SyncProblem> in
            do throws(SyncProblem) {
                return .success(try await question())
            } catch {
                return .failure(error)
            }
        }
        do throws(SyncProblem) {
            return try result.get()
        } catch {
            throw RecordError(asking: error)
        }
    }

    /// Returns the ID in `https://host/share/ID#Title`, or in `ID` alone. Errors: invalidArgument.
    private static func shortGUID(of link: Text) throws(RecordError) -> Text {
        let address = link.string.prefix { $0 != "#" && $0 != "?" }
        let parts = address.split(separator: "/")
        guard let last = parts.last,
            parts.count == 1 || parts.dropLast().last == "share",
            last.allSatisfy({ $0.isASCII && !$0.isWhitespace })
        else {
            throw RecordError(
                .invalidArgument, "it is no link of a share, which ends with /share/ID.")
        }
        return Text(String(last))
    }
}

extension RecordError {
    /// The error for a question that the server refused or did not answer.
    fileprivate init(asking problem: SyncProblem) {
        switch problem {
        case .store(let error): self = error
        case .unreachable, .unreadable, .fruitless:
            self.init(.unavailable, "the server does not answer: \(problem)")
        case .refused(let error) where error.code == .zoneNotFound:
            self.init(
                .notFound, "the server does not have the zone. recordfs sync prints the problem.")
        case .refused(let error):
            let code: Code =
                switch error.code {
                case .notFound: .notFound
                case .accessDenied: .accessDenied
                case .quotaExceeded: .quotaExceeded
                case .badRequest, .tooManyParticipants, .alreadyShared: .invalidArgument
                default: .unavailable
                }
            self.init(code, "\(error.reason) (\(error.text))")
        }
    }
}
