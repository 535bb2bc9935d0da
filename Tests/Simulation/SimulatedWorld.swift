import Foundation
import RecordModel
import RecordServer
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import TestSupport

/// The machines of one account with their record server, as a history goes on.
actor SimulatedWorld {
    private let server: TestServer
    private let clocks: [ShiftedClock]
    private let replicas: [Replica]
    private let zones: [String]
    private let pageRecords: Int
    private var oracle = Oracle()
    private var backup: TemporaryDirectory?
    /// What happened, for a run of the same history to compare with.
    private(set) var trace: [String] = []

    /// - Parameter shift: by which the clocks of all machines, and not that of the server, are wrong.
    init(devices: Int, zones: [String], pageRecords: Int, shift: Duration) async throws {
        let server = try await TestServer()
        let clocks = (0..<devices).map { _ in ShiftedClock(server.clock, by: shift) }
        self.server = server
        self.clocks = clocks
        self.zones = zones
        self.pageRecords = pageRecords
        replicas = try clocks.enumerated().map { number, clock in
            try Self.replica(server, clock, number, pageRecords)
        }
    }

    private static func replica(
        _ server: TestServer, _ clock: ShiftedClock, _ number: Int, _ pageRecords: Int
    ) throws -> Replica {
        try Replica(server, clock: clock, device: UInt64(number + 1), overHTTP: false) {
            settings in
            settings.pageRecords = pageRecords
            settings.claims.records = pageRecords
            // One after the other, so that a history is the same each time.
            settings.parallelAssets = 1
        }
    }

    // MARK: Steps

    func perform(_ step: Step) async throws {
        server.clock.advance(.milliseconds(step.pause))
        switch step.action {
        case .round(let faults): try await round(step, faults)
        case .restart: try replicas[step.device].restart()
        case .jump(let seconds): clocks[step.device].jump(by: .seconds(seconds))
        case .backUp: backup = try await server.backUp()
        case .restoreServer:
            guard let backup else { return }
            try await server.restore(backup)
            for zone in zones { oracle.forgetAnswers(of: zone) }
            oracle.restoreServer()
        default: try edit(step.action, on: step.device, step.number, "\(step.number)")
        }
    }

    private func edit(_ action: Step.Action, on device: Int, _ step: Int, _ mark: String) throws {
        let editor = Editor(device: device, replica: replicas[device], step: step, mark: mark)
        try editor.perform(action, &oracle)
    }

    // MARK: Rounds

    private func round(_ step: Step, _ faults: [Step.Fault]) async throws {
        let replica = replicas[step.device]
        replica.wire.forgetPlan()
        for fault in faults {
            if case .upload(let fault) = fault, let fault = wireFault(fault, step) {
                replica.wire.plan(.recordsModify, fault)
            } else {
                replica.wire.plan(wireFault(fault, step))
            }
        }
        var outcome = "done"
        do throws(SyncProblem) {
            try await replica.exchange.round()
        } catch {
            guard error.isPassing else { throw error }
            outcome = "\(error)"
        }
        replica.wire.forgetPlan()
        if try replica.restartAfterCrash() { outcome += ", restarted" }
        for key in try replica.unanswered() { oracle.leaveUnanswered(key, device: step.device) }
        trace.append("\(step.number) \(outcome)")
    }

    private func wireFault(_ fault: Step.Fault, _ step: Step) -> CoreTransport.Fault? {
        switch fault {
        case .none, .upload: nil
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .tokenExpired: .tokenExpired
        case .crashBefore: .crash(isAnswered: false)
        case .crashAfter: .crash(isAnswered: true)
        case .refused: .refused(ServerError(.tryAgainLater, "busy"))
        case .meanwhile(let action):
            .meanwhile { [unowned self] in
                try await edit(action, on: step.device, step.number, "\(step.number)m")
            }
        case .otherRound(let device):
            device == step.device
                ? nil
                : .meanwhile { [other = replicas[device]] in try await other.exchange.round() }
        }
    }

    // MARK: The end

    private static let roundsMax = 200

    /// All machines fetch and send until nothing moves any more; what is wrong then.
    func finish() async throws -> [String] {
        for replica in replicas { replica.wire.forgetPlan() }
        var rounds = 0
        while try await !isQuiet() {
            rounds += 1
            if rounds > Self.roundsMax {
                return ["It never ends: after \(rounds) rounds, something is sent."]
            }
        }
        var problems: [String] = []
        let fresh = try Self.replica(
            server, ShiftedClock(server.clock, by: .zero), replicas.count, pageRecords)
        try await fresh.exchange.round()
        let tree = try files(fresh)
        let lost = try Set(replicas.flatMap { try $0.recordsWithoutBytes() })
        for (number, replica) in (replicas + [fresh]).enumerated() {
            problems += try replica.problems().map { "device \(number): \($0)" }
            let waiting = try replica.unsent()
            if !waiting.isEmpty { problems.append("device \(number) has not sent \(waiting)") }
            let other = try files(replica)
            for key in Set(tree.keys).union(other.keys).sorted()
            where tree[key] != other[key] && !lost.contains(key.name) {
                problems.append(
                    "\(key) is \(other[key] ?? "gone") on device \(number), and "
                        + "\(tree[key] ?? "gone") on a new one")
            }
        }
        problems += oracle.problems(
            tree.mapValues { Record.values(in: $0) }, kept: try kept(), except: lost)
        try traceConflicts()
        for (key, text) in tree.sorted(by: { $0.key < $1.key }) { trace.append("\(key) \(text)") }
        return problems
    }

    /// A round of each in which nothing was changed on the server.
    private func isQuiet() async throws -> Bool {
        var isQuiet = true
        for (number, replica) in replicas.enumerated() {
            _ = replica.wire.takeSent()
            try await replica.exchange.round()
            let sent = replica.wire.takeSent()
            trace.append("end: device \(number) \(sent)")
            if sent.contains(.recordsModify) || sent.contains(.zonesModify) { isQuiet = false }
            if try !replica.unsent().isEmpty { isQuiet = false }
        }
        return isQuiet
    }

    private func files(_ replica: Replica) throws -> [Step.Key: String] {
        var files: [Step.Key: String] = [:]
        for zone in zones {
            for (name, text) in try replica.files(zone: zone) {
                files[Step.Key(zone: zone, name: name)] = text
            }
        }
        return files
    }

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

    /// The values that conflicts have.
    private func kept() throws -> Set<String> {
        var kept: Set<String> = []
        for replica in replicas {
            for zone in zones {
                for conflict in try replica.conflicts(zone: zone) {
                    for side in [Conflict.Side.mine, .theirs] {
                        guard let text = try replica.store.text(of: side, in: conflict) else {
                            continue
                        }
                        kept.formUnion(Record.values(in: String(decoding: text, as: UTF8.self)))
                    }
                }
            }
        }
        return kept
    }
}

extension Replica {
    /// What waits to be sent, and can be.
    fileprivate func unsent() throws -> [String] {
        let lost = try recordsWithoutBytes()
        return try store.outbox(limit: 1_000).filter { !lost.contains($0.name.description) }
            .map { "\($0.operation) \($0.name) \($0.error ?? "")" }
    }

    /// What was sent, and may have arrived.
    fileprivate func unanswered() throws -> [Step.Key] {
        try store.outbox(limit: 1_000).filter { $0.sent != nil }.compactMap { row in
            try store.keptZone(row.zone).map {
                Step.Key(zone: $0.name.description, name: row.name.description)
            }
        }
    }

    /// Records with a file that is nowhere any more: it went with the record on the server before
    /// anybody here had read it, and an edit here has kept the record. They say so.
    fileprivate func recordsWithoutBytes() throws -> [String] {
        try store.outbox(limit: 1_000).filter { $0.error?.contains("Write the file anew") == true }
            .map(\.name.description)
    }
}

extension SyncProblem {
    /// What the wire of a history does to requests.
    fileprivate var isPassing: Bool {
        switch self {
        case .unreachable, .fruitless: true
        case .refused(let error): error.code == .tryAgainLater
        default: false
        }
    }
}
