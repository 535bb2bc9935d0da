import RecordModel
import RecordServerCore
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import TestSupport

/// The machines of an owner and of those he shares with, and their record server, as a history goes on.
actor SharingWorld: HistoryWorld {
    /// The errors of requests whose share ends under them.
    private static let refusals: [ServerErrorCode] = [.zoneNotFound]

    struct Machine {
        /// 0 for the owner.
        let user: Int
        let replica: Replica
        let clock: ShiftedClock
        var isOfOwner: Bool { user == 0 }
    }

    static let people: [TestServer.Person] = [
        .alice, .bob, .carol, .other(TestServer.userName("da5e")),
    ]
    static let owner = people[0].user ?? UserName("")
    private static let requestsMax = 150

    let server: TestServer
    let machines: [Machine]
    let zones: [String]
    let pageRecords: Int
    var model = ShareModel()
    var shared = SharedServer()
    var oracle = SharingOracle()
    var photos = Photos()
    /// What participants were given to fetch large fields with.
    var links = AssetLinks()
    var problems: [String] = []
    /// What happened, for a run of the same history to compare with.
    var trace: [String] = []
    /// What each machine has shown last.
    var lastFiles: [Int: [Step.Key: String]] = [:]
    /// Machines on which something has happened since.
    var changed: Set<Int> = []
    /// Records that somebody has deleted on his machine while a round of it goes on.
    var deletedInRound: Set<Step.Key> = []
    var requests = 0
    var backup: Backup?

    init(users: [Int], shifts: [Int], zones: [String], pageRecords: Int) async throws {
        let server = try await TestServer()
        try await Self.addPeople(to: server)
        self.server = server
        self.zones = zones
        self.pageRecords = pageRecords
        machines = try users.enumerated().map { number, user in
            try Self.machine(server, number, user, shifts[user], pageRecords)
        }
        for (number, machine) in machines.enumerated() { watch(machine, number) }
    }

    /// Those who are not among the people of every server.
    private static func addPeople(to server: TestServer) async throws {
        guard let name = people[3].user else { return }
        let row = UserRow(
            name: name, emailAddress: "dave@example.org", passwordHash: "", createdMilliseconds: 0)
        try await server.storage.write { (transaction) throws(ServerError) in
            try transaction.putUser(row)
        }
    }

    static func machine(
        _ server: TestServer, _ number: Int, _ user: Int, _ shift: Int, _ pageRecords: Int
    ) throws -> Machine {
        let clock = ShiftedClock(server.clock, by: .seconds(shift))
        let replica = try Replica(
            server, as: people[user], in: user == 0 ? .private : .shared,
            of: user == 0 ? .me : OwnerName(bytes: owner.bytes), clock: clock,
            device: UInt64(number + 1), overHTTP: false
        ) { settings in
            settings.pageRecords = pageRecords
            settings.claims.records = pageRecords
            settings.parallelAssets = 1
        }
        return Machine(user: user, replica: replica, clock: clock)
    }

    func watch(_ machine: Machine, _ number: Int) {
        let user = machine.user
        machine.replica.wire.onAnswer { [unowned self] operation, body, answer in
            try await see(number, user, operation, body, answer)
        }
    }

    private func see(
        _ number: Int, _ user: Int, _ operation: SyncOperation, _ body: JSONValue,
        _ answer: JSONValue?
    ) async throws {
        requests += 1
        if requests >= Self.requestsMax {
            let problem = "Machine \(number) does not stop: \(requests) requests in a round."
            if requests == Self.requestsMax { problems.append(problem) }
            throw EndlessRound(description: problem)
        }
        switch operation {
        case .assetsUpload, .recordsLookup, .zoneChanges:
            if user != 0, let answer { links.note(answer, of: body, user, at: server.clock.now) }
        case .recordsModify, .zonesModify:
            if user != 0, let answer { try judge(refusals: answer, of: body, number) }
            try await readServer(after: user, deleting: Self.deletedKeys(in: body))
        default: break
        }
    }

    /// What is wrong, since the last call.
    func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    // MARK: Steps

    func perform(_ step: SharingStep) async throws {
        server.clock.advance(.milliseconds(step.pause))
        let machine = machines[step.machine]
        switch step.action {
        case .round(let faults): try await round(step, faults)
        case .restart:
            try machine.replica.restart()
            changed.insert(step.machine)
        case .backUp: try await backUp()
        case .restoreServer: try await restoreServer()
        default: try await act(step.action, step.machine, step.number, "\(step.number)")
        }
        try lookAtMachines()
        if step.action.isOfShares { try await judgeLinks(sends: false) }
    }

    /// - Parameter mark: makes the words of its edits its own.
    func act(
        _ action: SharingStep.Action, _ machine: Int, _ step: Int, _ mark: String
    ) async throws {
        let user = machines[machine].user
        switch action {
        case .edit, .hang, .attach, .delete, .rename, .removeZone:
            try edit(action, machine, step, mark)
        case .read(let key, let interruption):
            try await read(key, machine, interruption, step, mark)
        case .jump(let seconds): machines[machine].clock.jump(by: .seconds(seconds))
        case .share(let spot): try await share(spot)
        case .manage(let management): try await manage(management, 0)
        case .manageAsUser(let management): try await manage(management, user)
        case .stop(let spot): try await stop(spot)
        case .accept(let spot): try await accept(spot, user)
        case .leave(let spot): try await leave(spot, user)
        case .round, .restart, .backUp, .restoreServer: break
        }
    }

    // MARK: Rounds

    private func round(_ step: SharingStep, _ faults: [SharingStep.Fault]) async throws {
        let replica = machines[step.machine].replica
        replica.wire.forgetPlan()
        _ = replica.wire.takeSent()
        requests = 0
        deletedInRound = []
        for fault in faults { plan(fault, step) }
        let before = try files(replica)
        let outcome = try await replica.roundAsFarAsItGoes(past: Self.refusals)
        let sent = replica.wire.takeSent()
        trace.append("\(step.number) \(outcome): \(sent.names)")
        changed.insert(step.machine)
        try noteEnded(step.machine, before)
        // What it has sent itself may have ended something, and an edit that waits keeps its record.
        if faults.isEmpty, outcome == "done", !sent.contains(.recordsModify),
            try waiting(step.machine).isEmpty
        {
            problems += try foreignWords(on: step.machine)
        }
    }

    private func plan(_ fault: SharingStep.Fault, _ step: SharingStep) {
        let wire = machines[step.machine].replica.wire
        switch fault {
        case .upload(let fault):
            if let fault = wireFault(fault, step) { wire.plan(.recordsModify, fault) }
        case .asset(let isAnswered): wire.planAsset(isAnswered ? .answerLost : .requestLost)
        default: wire.plan(wireFault(fault, step))
        }
    }

    private func wireFault(
        _ fault: SharingStep.Fault, _ step: SharingStep
    ) -> CoreTransport.Fault? {
        switch fault {
        case .none, .upload, .asset: nil
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .tokenExpired: .tokenExpired
        case .crashBefore: .crash(isAnswered: false)
        case .crashAfter: .crash(isAnswered: true)
        case .cutShort: .cutShort
        case .meanwhile(let machine, let action):
            .meanwhile { [unowned self] in
                if case .round = action { return }
                try await act(action, machine, step.number, "\(step.number)m")
            }
        case .otherRound(let machine):
            machine == step.machine
                ? nil
                : .meanwhile { [unowned self] in try await otherRound(machine) }
        }
    }

    private func otherRound(_ machine: Int) async throws {
        let replica = machines[machine].replica
        let before = try files(replica)
        _ = try await replica.roundAsFarAsItGoes(past: Self.refusals)
        changed.insert(machine)
        try noteEnded(machine, before)
    }

    /// A round in which nothing goes wrong.
    func quietRound(_ machine: Int) async throws {
        requests = 0
        try await machines[machine].replica.exchange.round()
        changed.insert(machine)
        try lookAtMachines()
    }
}
