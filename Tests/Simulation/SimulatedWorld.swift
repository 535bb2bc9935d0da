import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import TestSupport

/// The machines of one account with their record server, as a history goes on.
actor SimulatedWorld: HistoryWorld {
    let server: TestServer
    let clocks: [ShiftedClock]
    let replicas: [Replica]
    let zones: [String]
    let pageRecords: Int
    /// How long a file that was removed can come back by the name of its record.
    let grace: Duration
    /// Indicates whether each step is a gesture, which can be taken back.
    private let undoes: Bool
    var oracle = Oracle()
    var serverWatch = ServerWatch()
    var problems: [String] = []
    /// The values that each machine has shown last, those of its conflicts with them.
    var shown: [Set<String>]
    /// What each machine has shown last.
    var lastFiles: [Int: [Step.Key: String]] = [:]
    /// Machines on which something has happened since.
    var changed: Set<Int> = []
    /// Of the round that goes on.
    var requests = 0
    private var backup: TemporaryDirectory?
    /// What happened, for a run of the same history to compare with.
    var trace: [String] = []

    /// - Parameter shifts: by which the clock of each machine, and not that of the server, is wrong.
    init(
        zones: [String], pageRecords: Int, shifts: [Duration], grace: Duration = .zero,
        undoes: Bool = false
    ) async throws {
        let server = try await TestServer()
        let clocks = shifts.map { ShiftedClock(server.clock, by: $0) }
        self.server = server
        self.clocks = clocks
        self.zones = zones
        self.pageRecords = pageRecords
        self.grace = grace
        self.undoes = undoes
        shown = clocks.map { _ in [] }
        replicas = try clocks.enumerated().map { number, clock in
            try Self.replica(server, clock, number, pageRecords, grace)
        }
        for (number, replica) in replicas.enumerated() { watch(replica, number) }
    }

    /// What is wrong, since the last call.
    func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    static func replica(
        _ server: TestServer, _ clock: ShiftedClock, _ number: Int, _ pageRecords: Int,
        _ grace: Duration
    ) throws -> Replica {
        try Replica(
            server, clock: clock, device: UInt64(number + 1), grace: grace, overHTTP: false
        ) { settings in
            settings.pageRecords = pageRecords
            settings.claims.records = pageRecords
            // One after the other, so that a history is the same each time.
            settings.parallelAssets = 1
        }
    }

    // MARK: Steps

    func perform(_ step: Step) async throws {
        server.clock.advance(.milliseconds(step.pause))
        try replicas[step.device].finalizeDeletes()
        switch step.action {
        case .round(let faults): try await round(step, faults)
        case .restart:
            try replicas[step.device].restart()
            changed.insert(step.device)
            try lookAtMachines()
        case .read(let key): try await read(key, step)
        case .jump(let seconds): clocks[step.device].jump(by: .seconds(seconds))
        case .backUp: backup = try await server.backUp()
        case .restoreServer:
            guard let backup else { return }
            try await server.restore(backup)
            for zone in zones { oracle.forgetAnswers(of: zone) }
            let before = serverWatch.versions
            serverWatch.forget()
            try await readServer(after: nil)
            let after = serverWatch.versions
            let lost = before.filter { (key, version) in
                guard let old = after[key] else { return true }
                return old.isDeleted && old.position != version.position
            }
            let changed = before.filter { after[$0]?.position != $1.position }
            oracle.restoreServer(
                losing: Set(lost.keys), changing: Set(changed.keys), step: step.number)
        default: try edit(step.action, on: step.device, step.number, "\(step.number)")
        }
    }

    private func edit(_ action: Step.Action, on device: Int, _ step: Int, _ mark: String) throws {
        let editor = Editor(device: device, replica: replicas[device], step: step, mark: mark)
        let program = undoes ? CallingProgram.ofStep(step, mark) : nil
        try CallingProgram.$current.withValue(program) { try editor.perform(action, &oracle) }
        problems += oracle.takeProblems()
        changed.insert(device)
    }

    /// Opens the file beside a record, whose bytes come then.
    private func read(_ key: Step.Key, _ step: Step) async throws {
        let replica = replicas[step.device]
        guard let entry = try replica.entry(key.name, key.zone, key.type) else { return }
        for asset in try replica.store.assets.assets(of: entry.id) where !asset.isDownloaded {
            let outcome = try await bring(asset, replica)
            trace.append("\(step.number) reads \(key): \(outcome ?? "done")")
        }
        changed.insert(step.device)
    }

    /// - Returns: why the bytes do not come; nil when they are there.
    func bring(_ asset: AssetEntry, _ replica: Replica) async throws -> String? {
        let downloads = AssetDownloads(replica.exchange)
        var outcome: String?
        do throws(RecordError) {
            try await downloads.bring(asset)
        } catch {
            outcome = "\(error)"
        }
        await downloads.stop()
        return outcome
    }

    // MARK: Rounds

    private func round(_ step: Step, _ faults: [Step.Fault]) async throws {
        let replica = replicas[step.device]
        replica.wire.forgetPlan()
        _ = replica.wire.takeSent()
        requests = 0
        if faults.contains(where: \.expiresToken) { oracle.expireToken() }
        for fault in faults {
            switch fault {
            case .upload(let fault):
                if let fault = wireFault(fault, step) { replica.wire.plan(.recordsModify, fault) }
            case .asset(let isAnswered):
                replica.wire.planAsset(isAnswered ? .answerLost : .requestLost)
            default: replica.wire.plan(wireFault(fault, step))
            }
        }
        let outcome = try await replica.roundAsFarAsItGoes(past: ServerErrorCode.ofRefusals)
        for key in try replica.unanswered() { oracle.leaveUnanswered(key, device: step.device) }
        trace.append("\(step.number) \(outcome): \(replica.wire.takeSent().names)")
        changed.insert(step.device)
        try lookAtMachines()
    }

    private func refusal(of step: Step) -> ServerError {
        let codes = ServerErrorCode.ofRefusals
        return ServerError(codes[step.number % codes.count], "not now", retryAfter: 1)
    }

    private func otherRound(_ device: Int) async throws {
        changed.insert(device)
        try await replicas[device].exchange.round()
    }

    private func wireFault(_ fault: Step.Fault, _ step: Step) -> CoreTransport.Fault? {
        switch fault {
        case .none, .upload, .asset: nil
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .tokenExpired: .tokenExpired
        case .crashBefore: .crash(isAnswered: false)
        case .crashAfter: .crash(isAnswered: true)
        case .cutShort: .cutShort
        case .partly: .partly(refusal(of: step))
        case .refused: .refused(refusal(of: step))
        case .meanwhile(let action):
            .meanwhile { [unowned self] in
                try await edit(action, on: step.device, step.number, "\(step.number)m")
            }
        case .otherRound(let device):
            device == step.device
                ? nil
                : .meanwhile { [unowned self] in try await otherRound(device) }
        }
    }
}

extension ServerErrorCode {
    /// Of requests that may succeed later.
    fileprivate static let ofRefusals: [ServerErrorCode] = [
        .tryAgainLater, .throttled, .quotaExceeded, .internalError,
    ]
}
