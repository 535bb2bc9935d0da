import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport

/// How a history ends.
extension SimulatedWorld {
    private static let roundsMax = 200
    /// More than all jumps of a clock together.
    private static let longJump = Duration.seconds(86_400 * 365)

    /// All machines fetch and send until nothing moves any more; what is wrong then.
    func finish() async throws -> [String] {
        for replica in replicas {
            replica.wire.forgetPlan()
            try replica.finalizeDeletes(olderThan: .zero - Self.longJump)
        }
        var rounds = 0
        // Quiet is what goes on being so.
        var quiet = 0
        while quiet < 2 {
            quiet = try await isQuiet() ? quiet + 1 : 0
            rounds += 1
            if rounds > Self.roundsMax {
                let waiting = try replicas.enumerated().map { (number, replica) in
                    "device \(number) \(try replica.unsent())"
                }
                return ["It never ends: after \(rounds) rounds, something is sent. \(waiting)"]
            }
        }
        var problems: [String] = []
        let fresh = try Self.replica(
            server, ShiftedClock(server.clock, by: .zero), replicas.count, pageRecords,
            grace)
        watch(fresh, replicas.count)
        try await fresh.exchange.round()
        let tree = try files(fresh)
        let lost: Set<String> = []
        for (number, replica) in (replicas + [fresh]).enumerated() {
            problems += try replica.problems().map { "device \(number): \($0)" }
            let waiting = try replica.unsent()
            if !waiting.isEmpty { problems.append("device \(number) has not sent \(waiting)") }
            let other = try files(replica)
            problems += try await unreadable(replica, number)
            for key in Set(tree.keys).union(other.keys).sorted()
            where tree[key] != other[key] && !lost.contains(key.name) {
                problems.append(
                    "\(key) is \(other[key] ?? "gone") on device \(number), and "
                        + "\(tree[key] ?? "gone") on a new one")
            }
        }
        problems += try await differencesOfServer(tree, except: lost) + takeProblems()
        let keptValues = try replicas.map { try kept($0) }
        for replica in replicas {
            for loss in try zones.flatMap({ try replica.losses(zone: $0) }) {
                oracle.noteLoss(of: loss.lost, to: loss.stood)
            }
        }
        problems += oracle.problems(
            tree.mapValues { Record.values(in: $0) }, kept: keptValues, except: lost)
        try traceConflicts()
        for (key, text) in tree.sorted(by: { $0.key < $1.key }) { trace.append("\(key) \(text)") }
        return problems
    }

    /// Files that are listed and cannot be read.
    private func unreadable(_ replica: Replica, _ number: Int) async throws -> [String] {
        var problems: [String] = []
        for key in try files(replica).keys.sorted() {
            guard let entry = try replica.entry(key.name, key.zone, key.type) else { continue }
            for asset in try replica.store.assets.assets(of: entry.id) where !asset.isDownloaded {
                guard let problem = try await bring(asset, replica) else { continue }
                problems.append("Device \(number) cannot read the file of \(key): \(problem)")
            }
        }
        return problems
    }

    /// A round of each in which nothing was changed on the server.
    private func isQuiet() async throws -> Bool {
        var isQuiet = true
        for (number, replica) in replicas.enumerated() {
            _ = replica.wire.takeSent()
            requests = 0
            try await replica.exchange.round()
            let sent = replica.wire.takeSent()
            trace.append("end: device \(number) \(sent.names)")
            if sent.haveChanged { isQuiet = false }
            if try !replica.unsent().isEmpty { isQuiet = false }
        }
        return isQuiet
    }

    func files(_ replica: Replica) throws -> [Step.Key: String] { try replica.files(in: zones) }

    private func traceConflicts() throws {
        for (number, replica) in replicas.enumerated() {
            for zone in zones {
                for conflict in try replica.conflicts(zone: zone).reversed() {
                    trace.append(
                        "device \(number) has a conflict of \(zone)/\(conflict.stem): "
                            + "\(conflict.fields), theirs stood \(conflict.theirsStood)")
                }
            }
        }
    }
}

extension [SyncOperation] {
    var names: String { map { "\($0)" }.joined(separator: ", ") }

    /// Indicates whether something was changed on the server.
    var haveChanged: Bool { contains(.recordsModify) || contains(.zonesModify) }
}

extension Replica {
    /// What its files show in some zones.
    func files(in zones: [String]) throws -> [Step.Key: String] {
        var files: [Step.Key: String] = [:]
        for zone in zones {
            for type in try types(zone) {
                for (name, text) in try self.files(zone: zone, type: type) {
                    files[Step.Key(zone: zone, type: type, name: name)] = text
                }
            }
        }
        return files
    }

    /// A round with what the plan of its wire does to it.
    /// - Parameter refusals: the errors of the server that this may meet.
    /// - Returns: what has become of it.
    func roundAsFarAsItGoes(past refusals: [ServerErrorCode]) async throws -> String {
        var outcome = "done"
        do throws(SyncProblem) {
            try await exchange.round()
        } catch {
            guard error.isPassing(refusals) else { throw error }
            outcome = "\(error)"
        }
        wire.forgetPlan()
        if try restartAfterCrash() { outcome += ", restarted" }
        return outcome
    }

    /// What waits to be sent.
    func unsent() throws -> [String] {
        try store.syncState.outbox(limit: 1_000)
            .map { "\($0.operation) \($0.name) \($0.error ?? "")" }
    }

    /// What was sent, and may have arrived.
    func unanswered() throws -> [Step.Key] {
        try store.syncState.outbox(limit: 1_000).filter { $0.sent != nil }.compactMap { row in
            try store.past.keptZone(row.zone).map {
                Step.Key(
                    zone: $0.name.description, type: row.type.description,
                    recordName: row.name.description)
            }
        }
    }
}
