import RecordModel
import RecordObjects
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import TestSupport

/// Machines of one account that edit a graph of objects, with their record server.
actor GraphWorld: HistoryWorld {
    private static let roundsMax = 200

    private let server: TestServer
    private let replicas: [Replica]
    private let pageRecords: Int
    private var oracle = GraphOracle()
    private(set) var trace: [String] = []

    init(devices: Int, pageRecords: Int) async throws {
        let server = try await TestServer()
        self.server = server
        self.pageRecords = pageRecords
        replicas = try (0..<devices).map { try Self.replica(server, $0, pageRecords) }
    }

    private static func replica(
        _ server: TestServer, _ number: Int, _ pageRecords: Int
    ) throws -> Replica {
        let replica = try Replica(server, device: UInt64(number + 1), overHTTP: false) { settings in
            settings.pageRecords = pageRecords
            settings.claims.records = pageRecords
            settings.parallelAssets = 1
        }
        try replica.attachGraphModel()
        return replica
    }

    func takeProblems() -> [String] { oracle.takeProblems() }

    // MARK: Steps

    func perform(_ step: GraphStep) async throws {
        server.clock.advance(.milliseconds(step.pause))
        try await perform(step.action, step)
    }

    private func perform(_ action: GraphStep.Action, _ step: GraphStep) async throws {
        let replica = replicas[step.device]
        switch action {
        case .round(let faults): try await round(step, faults)
        case .restart: try replica.restart()
        default:
            let before = try Graph(replica)
            let outcome = try edit(action, on: replica, before, step.number)
            let after = try Graph(replica)
            oracle.note(before, after, device: step.device)
            if case .delete(let name) = action { oracle.noteDeletion(name, before, after) }
            if case .title(let name) = action { oracle.noteMaking(name, before, after) }
            if case .link(let name, let relationship, let adding, let removing) = action {
                oracle.noteUnlinking(
                    Graph.Key(object: name, relationship: relationship),
                    Set(removing).subtracting(adding), before, after)
            }
            if case .rename(let name, let new) = action, outcome.hasPrefix("renamed") {
                oracle.noteRename(name, to: new)
            }
            trace.append("\(step.number) \(outcome)")
        }
    }

    private func edit(
        _ action: GraphStep.Action, on replica: Replica, _ graph: Graph, _ number: Int
    ) throws -> String {
        switch action {
        case .title(let name):
            var object = try GraphObject(name, on: replica)
            object.set("title", .string(Text("<\(number)>")))
            return try object.save(on: replica)
        case .kind(let name, let kind):
            var object = try GraphObject(name, on: replica)
            object.set("kind", .string(Text(kind)))
            return try object.save(on: replica)
        case .link(let name, let relationship, let adding, let removing):
            var object = try GraphObject(name, on: replica)
            object.change(relationship, adding: adding, removing: removing)
            return try object.save(on: replica)
        case .delete(let name):
            guard let type = GraphModel.type(of: name), graph.objects.contains(name) else {
                return "no \(name)"
            }
            try replica.delete(name, type: type)
            return "removed \(name)"
        case .rename(let name, let new):
            guard let type = GraphModel.type(of: name), graph.objects.contains(name),
                !graph.objects.contains(new)
            else { return "no rename" }
            try replica.rename(name, to: new, type: type)
            return "renamed \(name)"
        case .round, .restart: return ""
        }
    }

    // MARK: Rounds

    private func round(_ step: GraphStep, _ faults: [GraphStep.Fault]) async throws {
        let replica = replicas[step.device]
        replica.wire.forgetPlan()
        for fault in faults { replica.wire.plan(wireFault(fault, step)) }
        let outcome = try await replica.roundAsFarAsItGoes(past: [.tryAgainLater])
        trace.append("\(step.number) \(outcome)")
    }

    private func wireFault(_ fault: GraphStep.Fault, _ step: GraphStep) -> CoreTransport.Fault? {
        switch fault {
        case .none: nil
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .cutShort: .cutShort
        case .crashBefore: .crash(isAnswered: false)
        case .crashAfter: .crash(isAnswered: true)
        case .partly: .partly(ServerError(.tryAgainLater, "not now", retryAfter: 1))
        case .meanwhile(let action):
            .meanwhile { [unowned self] in try await perform(action, step) }
        case .otherRound(let device):
            device == step.device
                ? nil
                : .meanwhile { [unowned self] in try await replicas[device].exchange.round() }
        }
    }

    // MARK: The end

    /// All machines fetch and send until nothing moves any more; what is wrong then.
    func finish() async throws -> [String] {
        for replica in replicas { replica.wire.forgetPlan() }
        var rounds = 0
        // Quiet is what goes on being so: duplicates are removed two downloads after their merge.
        var quiet = 0
        while quiet < 3 {
            quiet = try await isQuiet() ? quiet + 1 : 0
            rounds += 1
            guard rounds <= Self.roundsMax else {
                return ["It never ends: after \(rounds) rounds, something is sent."]
            }
        }
        let fresh = try Self.replica(server, replicas.count, pageRecords)
        try await fresh.exchange.round()
        let end = try Graph(fresh)
        var problems = oracle.problems(end).map { "at the end \($0)" }
        for (number, replica) in replicas.enumerated() {
            let graph = try Graph(replica)
            problems += try replica.problems().map { "device \(number): \($0)" }
            problems += try replica.unsent().map { "device \(number) has not sent \($0)" }
            problems += graph.differences(from: end).map { "device \(number), a new one: \($0)" }
            problems += graph.problems(isWaiting: oracle.isWaiting).map {
                "device \(number): \($0)"
            }
        }
        return problems
    }

    /// A round of each in which nothing was changed on the server.
    private func isQuiet() async throws -> Bool {
        var isQuiet = true
        for (number, replica) in replicas.enumerated() {
            _ = replica.wire.takeSent()
            try await replica.exchange.round()
            let sent = replica.wire.takeSent()
            trace.append("end: device \(number) \(sent.names)")
            if sent.haveChanged { isQuiet = false }
            if try !replica.unsent().isEmpty { isQuiet = false }
        }
        return isQuiet
    }
}

/// The text of an object as a step finds it on a machine, and leaves it.
private struct GraphObject {
    private let name: String
    private let type: String
    private var members: [JSONMember]

    init(_ name: String, on replica: Replica) throws {
        self.name = name
        type = GraphModel.type(of: name) ?? ""
        members =
            try replica.text(name, type: type).map {
                try JSONParser.parse(Array($0.utf8)).object ?? []
            } ?? []
    }

    /// - Parameter value: nil to leave the member out.
    mutating func set(_ name: String, _ value: JSONValue?) {
        members.removeAll { $0.key.string == name }
        if let value { members.append(JSONMember(key: Text(name), value: value)) }
    }

    /// Adds objects to a relationship, and removes others from it. A to-one relationship has the
    /// last one of those that are added.
    mutating func change(_ relationship: String, adding: [String], removing: [String]) {
        let relation = GraphModel.relations(of: type).first {
            $0.name.description == relationship
        }
        let value = members.first { $0.key.string == relationship }?.value
        guard relation?.isList == true else {
            if let last = adding.last { return set(relationship, .string(Text(last))) }
            if let target = value?.string?.string, removing.contains(target) {
                set(relationship, nil)
            }
            return
        }
        var names = Set((value?.array ?? []).compactMap { $0.string?.string })
        names.subtract(removing)
        names.formUnion(adding)
        set(relationship, .array(names.sorted().map { .string(Text($0)) }))
    }

    func save(on replica: Replica) throws -> String {
        let text = String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
        try replica.save(name, text, type: type)
        return "\(name) \(text)"
    }
}
