import Logging
import RecordModel
import RecordServerCore
package import RecordServerHTTP
import RecordWire

/// Cleans up after the operations, in small transactions, so that nobody waits long for one.
package struct Maintenance: Sendable {
    private let application: ServerApplication
    private static let batch = 500

    package init(_ application: ServerApplication) { self.application = application }

    /// Runs rounds until the task is cancelled. The time between them varies by a tenth, so that
    /// several processes of a server do not run them at the same time.
    package func run() async {
        let seconds = Double(application.configuration.maintenanceSeconds)
        await attempt("recover assets") { () throws(ServerError) in
            try await sweeper.recover()
        }
        while !Task.isCancelled {
            await round()
            do {
                try await Task.sleep(for: .seconds(seconds * Double.random(in: 0.9...1.1)))
            } catch { return }
        }
    }

    /// Runs every step once. A step that fails is logged, and tried again in the next round.
    package func round() async {
        let now = application.clock.now
        let milliseconds = now.nanoseconds / 1_000_000
        let settings = application.configuration.service
        await attempt("sweep deleted zones") { () throws(ServerError) in
            try await sweepDeletedZones()
        }
        await attempt("remove tombstones") { () throws(ServerError) in
            try await removeTombstones(before: milliseconds - seconds(settings.tombstoneSeconds))
        }
        await attempt("forget tombstones of zones") { () throws(ServerError) in
            try await sweepZoneTombstones(
                now: milliseconds, before: milliseconds - seconds(settings.tombstoneSeconds))
        }
        await attempt("remove former states") { () throws(ServerError) in
            try await removeFormerRecords(
                before: milliseconds - seconds(settings.historySeconds))
        }
        let results = milliseconds - seconds(settings.operationResultSeconds)
        await attempt("remove operation results") { () throws(ServerError) in
            try await application.service.storage.write { (transaction) throws(ServerError) in
                try transaction.removeOperationResults(before: results)
                try transaction.removeSessions(expiredBefore: milliseconds)
                try transaction.removeAccountEvents(
                    before: milliseconds - AccountEvent.lifeMilliseconds)
            }
        }
        await attempt("sweep assets") { () throws(ServerError) in
            try await sweeper.sweep(now: now)
        }
        await attempt("forget devices") { () throws(ServerError) in
            try await application.service.push.sweep(now: now)
        }
        await attempt("write session uses") { () throws(ServerError) in
            try await application.authenticator.flush(now: now)
        }
    }

    private var sweeper: AssetSweeper {
        AssetSweeper(
            storage: application.service.storage,
            assets: application.service.assets,
            receiptSeconds: application.configuration.service.receiptSeconds)
    }

    private func seconds(_ count: Int) -> Int64 { Int64(count) * 1_000 }

    private func sweepDeletedZones() async throws(ServerError) {
        while !Task.isCancelled {
            let isMore = try await application.service.storage.write {
                (transaction) throws(ServerError) in
                try transaction.sweepDeletedZones(limit: Self.batch)
            }
            guard isMore else { return }
        }
    }

    private func removeFormerRecords(before milliseconds: Int64) async throws(ServerError) {
        while !Task.isCancelled {
            let isMore = try await application.service.storage.write {
                (transaction) throws(ServerError) in
                try transaction.removeFormerRecords(before: milliseconds, limit: Self.batch)
            }
            guard isMore else { return }
        }
    }

    private func sweepZoneTombstones(
        now: Int64, before milliseconds: Int64
    ) async throws(ServerError) {
        while !Task.isCancelled {
            let isMore = try await application.service.storage.write {
                (transaction) throws(ServerError) in
                try transaction.sweepZoneTombstones(
                    now: now, before: milliseconds, limit: Self.batch)
            }
            guard isMore else { return }
        }
    }

    /// Removes tombstones. The horizon of a zone moves first, so that the server never accepts a
    /// token older than a removed tombstone.
    private func removeTombstones(before milliseconds: Int64) async throws(ServerError) {
        let storage = application.service.storage
        let most = application.configuration.service.tombstonesPerZone
        var previous: ZoneHandle?
        while !Task.isCancelled {
            let after = previous
            let found = try await storage.read { (reader) throws(ServerError) in
                try reader.zoneWithTombstones(after: after)
            }
            guard let found else { return }
            previous = found.handle
            var isMore = true
            while isMore, !Task.isCancelled {
                isMore = try await storage.write { (transaction) throws(ServerError) in
                    try Self.removeTombstones(
                        found.key, before: milliseconds, keeping: most, transaction)
                }
            }
        }
    }

    private static func removeTombstones(
        _ key: ZoneKey, before milliseconds: Int64, keeping most: Int,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> Bool {
        guard var zone = try transaction.lockZone(key) else { return false }
        let old = try transaction.lastTombstone(zone.handle, before: milliseconds, limit: batch)
        let position: Int64? =
            if let old { old } else {
                try transaction.lastTombstone(zone.handle, beforeNewest: most, limit: batch)
            }
        guard let position else { return false }
        zone.horizon = max(zone.horizon, position)
        try transaction.updateZone(zone)
        _ = try transaction.removeTombstones(zone.handle, upTo: position, limit: 2 * batch)
        return true
    }

    private func attempt(
        _ what: String, _ step: () async throws(ServerError) -> Void
    ) async {
        do throws(ServerError) {
            try await step()
        } catch {
            application.logger.error(
                "maintenance failed", metadata: ["step": "\(what)", "reason": "\(error.reason)"])
        }
    }
}
