import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport

/// How a history of several users ends.
extension SharingWorld {
    private static let roundsMax = 100
    /// What is given up may let others go on, of which something is refused in turn.
    private static let revertsMax = 10

    /// All machines fetch and send until nothing moves any more, and give up what the server has refused;
    /// what is wrong then.
    func finish() async throws -> [String] {
        for machine in machines { machine.replica.wire.forgetPlan() }
        for _ in 0..<Self.revertsMax {
            if let problem = try await comeToRest() { return takeProblems() + [problem] }
            guard try revertAll() else { break }
        }
        let fresh = try Self.machine(server, machines.count, 0, 0, 200)
        try await fresh.replica.exchange.round()
        let tree = try files(fresh.replica)
        var problems = takeProblems()
        for (number, machine) in machines.enumerated() {
            problems += try machine.replica.problems().map { "Machine \(number): \($0)" }
            problems += try differences(tree, on: number)
            problems += try waiting(number).map { "Machine \(number) has not sent \($0)" }
            if machine.isOfOwner { continue }
            problems += try differencesOfShares(on: number) + foreignWords(on: number)
        }
        problems += differencesOfServer(tree) + (try lost(tree))
        problems += try await unreadableAssets()
        try await judgeLinks(sends: true)
        problems += takeProblems()
        for (key, text) in tree.sorted(by: { $0.key < $1.key }) { trace.append("\(key) \(text)") }
        return problems
    }

    /// - Returns: what is wrong when it never comes.
    private func comeToRest() async throws -> String? {
        var quiet = 0
        for _ in 0..<Self.roundsMax {
            var isQuiet = true
            for number in machines.indices {
                let replica = machines[number].replica
                _ = replica.wire.takeSent()
                try await quietRound(number)
                let sent = replica.wire.takeSent()
                trace.append("end: machine \(number) \(sent.names)")
                if sent.haveChanged { isQuiet = false }
            }
            quiet = isQuiet ? quiet + 1 : 0
            if quiet == 2 { return nil }
        }
        let waiting = try machines.indices.map { try self.waiting($0) }
        return "It never ends: after \(Self.roundsMax) rounds, something is sent. \(waiting)"
    }

    /// What is still to be sent: of what hangs on refused records, too.
    func waiting(_ machine: Int) throws -> [String] {
        try machines[machine].replica.store.syncState.outbox(limit: 1_000)
            .map { "\($0.operation) \($0.name) \($0.error ?? "")" }
    }

    /// Everybody gives up what the server has refused, as `recordfs revert` does.
    /// - Returns: whether there was anything.
    private func revertAll() throws -> Bool {
        var hasReverted = false
        for (number, machine) in machines.enumerated() {
            let replica = machine.replica
            let refused = try replica.store.syncState.outbox(limit: 1_000).filter {
                $0.error != nil
            }
            for row in refused {
                guard let zone = try replica.store.past.keptZone(row.zone) else { continue }
                let key = Step.Key(zone: zone.name.description, name: row.name.description)
                trace.append("machine \(number) gives up \(key): \(row.error ?? "")")
                oracle.giveUp(Set(try Record(replica, key).values))
                try replica.store.write(author: .sync) { transaction throws(RecordError) in
                    _ = try transaction.merging.revert(row)
                }
                changed.insert(number)
                hasReverted = true
            }
        }
        try lookAtMachines()
        return hasReverted
    }

    // MARK: What is compared

    /// What a machine shows otherwise than a new one of the owner, as far as it is shared with its user.
    private func differences(
        _ tree: [Step.Key: String], on number: Int
    ) throws -> [String] {
        let machine = machines[number]
        let visible = shared.visible(to: machine.user, model)
        let wanted =
            machine.isOfOwner ? tree : tree.filter { visible[$0.key] != nil }
        let files = try files(machine.replica)
        var problems: [String] = []
        for key in Set(wanted.keys).union(files.keys).sorted() {
            let isRoot = shared.spot(of: key, in: model)?.root == key.name
            let seen = try values(wanted[key], hidesParent: isRoot && !machine.isOfOwner)
            if try values(files[key]) == seen { continue }
            problems.append(
                "\(key) is \(files[key] ?? "gone") on machine \(number), and "
                    + "\(wanted[key] ?? "gone") for its user on a new one")
        }
        return problems
    }

    /// What is above a root is not for others; nor is the text of its file, so that `6.0` may be `6`. The
    /// same is so of what was given up: its earlier text is nowhere.
    private func values(
        _ text: String?, hidesParent: Bool = false
    ) throws -> [String: String]? {
        guard let text else { return nil }
        var values: [String: String] = [:]
        for member in try JSONParser.parse(Array(text.utf8)).object ?? [] {
            let number = member.value.double.map { "\($0)" }
            values[member.key.string] =
                number ?? String(decoding: member.value.sorted.serialized(), as: UTF8.self)
        }
        if hidesParent { values["$parent"] = nil }
        return values
    }

    private func differencesOfServer(_ tree: [Step.Key: String]) -> [String] {
        var words: [Step.Key: Set<String>] = [:]
        for (zone, content) in shared.zones {
            for (name, version) in content.records {
                words[Step.Key(zone: zone, name: name)] = version.words
            }
        }
        let shown = tree.mapValues { Set(Record.values(in: $0)) }
        return shown == words ? [] : ["The server has \(words), and a new machine \(shown)."]
    }

    private func lost(_ tree: [Step.Key: String]) throws -> [String] {
        let owned = Set(tree.values.flatMap(Record.values(in:)))
        var shown = owned
        var trash: Set<String> = []
        for machine in machines {
            shown.formUnion(try files(machine.replica).values.flatMap(Record.values(in:)))
            trash.formUnion(try machine.replica.wordsInTrash())
        }
        return oracle.lost(but: shown.union(trash))
            + oracle.lostByServer(but: owned, trash: trash)
    }
}
