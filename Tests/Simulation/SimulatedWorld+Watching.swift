import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport

/// What has to be true at each step of a history.
extension SimulatedWorld {
    /// More than any round of a history needs: an upload that is refused is not sent again and again.
    private static let requestsMax = 120

    func watch(_ replica: Replica, _ device: Int) {
        replica.wire.onAnswer { [unowned self] operation, body, answer in
            try await see(device, operation, body, answer)
        }
    }

    /// A request was answered; the answer is nil when it was refused.
    private func see(
        _ device: Int, _ operation: SyncOperation, _ body: JSONValue, _ answer: JSONValue?
    ) async throws {
        requests += 1
        if requests >= Self.requestsMax {
            let problem = "Device \(device) does not stop: \(requests) requests in a round."
            if requests == Self.requestsMax { problems.append(problem) }
            throw EndlessRound(description: problem)
        }
        switch operation {
        case .recordsModify:
            serverWatch.look(at: body)
            let before = serverWatch.position(ofZoneIn: body)
            try await readServer(after: device)
            if answer != nil { serverWatch.noteAnswered(body, before: before) }
        case .zonesModify: try await readServer(after: device)
        case .zoneChanges:
            if let answer { serverWatch.look(atPage: answer, of: body, limit: pageRecords) }
        default: break
        }
        problems += serverWatch.takeProblems()
    }

    /// - Parameter device: the machine whose request has changed it; nil for a restore.
    func readServer(after device: Int?) async throws {
        let (names, known) = (zones, serverWatch.zones)
        let database = TestServer.database(of: TestServer.userName("a11ce"))
        let readings = try await server.storage.read { (reader) throws(ServerError) in
            var readings: [ServerWatch.Reading] = []
            for name in names {
                let key = ZoneKey(database: database, zone: ZoneName(name))
                readings.append(
                    try ServerWatch.Reading(
                        key, reader, known[name].map { ($0.incarnation, $0.position) }))
            }
            return readings
        }
        for (name, reading) in zip(names, readings) {
            serverWatch.read(name, reading, after: device, oracle)
        }
    }

    // MARK: Machines

    /// Looks at those on which something has happened: no edit is nowhere, nothing is in a file that
    /// nobody wrote, and what somebody has deleted on a machine does not come back to it.
    func lookAtMachines() throws {
        for device in changed.sorted() {
            let files = try files(replicas[device])
            traceChanges(on: device, files)
            let tree = files.mapValues { Record.values(in: $0) }
            shown[device] = try Set(tree.values.joined()).union(kept(replicas[device]))
            for key in try keysOfConflictsWon(replicas[device]) {
                oracle.assert(key, device: device)
            }
            for (key, values) in tree {
                for value in values where !oracle.isKnown(value) {
                    problems.append("Device \(device) has \(value) in \(key): nobody wrote it.")
                }
            }
            problems += oracle.returned(in: tree, to: device).map { "Device \(device): \($0)" }
        }
        changed = []
        let lost: Set<String> = []
        problems += oracle.lost(but: shown.reduce(into: []) { $0.formUnion($1) }, except: lost)
    }

    private func traceChanges(on device: Int, _ files: [Step.Key: String]) {
        let before = lastFiles[device, default: [:]]
        for key in Set(files.keys).union(before.keys).sorted() where files[key] != before[key] {
            trace.append("device \(device) has \(key) \(files[key] ?? "no more")")
        }
        lastFiles[device] = files
    }

    /// The values that conflicts of a machine have.
    func kept(_ replica: Replica) throws -> Set<String> {
        try zones.reduce(into: []) { $0.formUnion(try replica.valuesOfConflicts(zone: $1)) }
    }

    /// Records of which a machine's side of a conflict stood.
    private func keysOfConflictsWon(_ replica: Replica) throws -> [Step.Key] {
        try zones.flatMap { zone in
            try replica.conflicts(zone: zone).filter { $0.fields.count > $0.theirsStood.count }
                .map {
                    Step.Key(
                        zone: zone, type: $0.type.description, name: $0.stem.description)
                }
        }
    }

    // MARK: The server

    /// What the server has otherwise than the machines, which all show `tree`.
    ///
    /// - Parameter names: of records that cannot be sent.
    func differencesOfServer(
        _ tree: [Step.Key: String], except names: Set<String>
    ) async throws -> [String] {
        try await readServer(after: nil)
        var problems: [String] = []
        var rest = tree.filter { !names.contains($0.key.name) }
        for (zone, content) in serverWatch.zones {
            for (name, version) in content.records
            where !version.isDeleted && !names.contains(name) {
                var key = Step.Key(zone: zone, type: version.type, recordName: name)
                if key.name != name, let other = content.records[key.name], !other.isDeleted,
                    other.type == version.type
                {
                    key = Step.Key(zone: zone, type: version.type, name: name)
                }
                guard let text = rest.removeValue(forKey: key) else {
                    problems.append("The server has \(key), and no machine has it.")
                    continue
                }
                let hashes = Record.hashes(in: text).compactMap { ContentHash(digits: Text($0)) }
                if Set(Record.marks(in: text)) != version.values
                    || version.fileText.map({ $0.withShortNames != text.withShortNames }) == true
                    || !hashes.allSatisfy({
                        version.content.contains(AssetChecksum.fileChecksum($0).string)
                    })
                {
                    problems.append("\(key) is \(text), and on the server \(version.content).")
                }
            }
        }
        return problems + rest.keys.sorted().map { "The server does not have \($0)." }
    }
}

struct EndlessRound: Error, CustomStringConvertible { let description: String }

extension Replica {
    /// The values of both sides of the conflicts of a zone.
    func valuesOfConflicts(zone: String) throws -> Set<String> {
        var values: Set<String> = []
        for conflict in try conflicts(zone: zone) {
            for side in [Conflict.Side.mine, .theirs] {
                guard let text = try store.syncState.text(of: side, in: conflict) else { continue }
                values.formUnion(Record.values(in: String(decoding: text, as: UTF8.self)))
            }
        }
        return values
    }

    /// The values that lost in the conflicts of a zone, each with the one of the field that stood.
    func losses(zone: String) throws -> [(lost: String, stood: String)] {
        try conflicts(zone: zone).flatMap { conflict in
            let mine = try values(of: .mine, in: conflict)
            let theirs = try values(of: .theirs, in: conflict)
            return conflict.fields.compactMap { field -> (lost: String, stood: String)? in
                guard let mine = mine["\(field)"], let theirs = theirs["\(field)"] else {
                    return nil
                }
                return conflict.theirsStood.contains(field) ? (mine, theirs) : (theirs, mine)
            }
        }
    }

    private func values(
        of side: Conflict.Side, in conflict: Conflict
    ) throws -> [String: String] {
        guard let text = try store.syncState.text(of: side, in: conflict) else { return [:] }
        let values = Record.values(in: String(decoding: text, as: UTF8.self))
        let named = values.compactMap { value -> (String, String)? in
            // `<STEP.FIELD>`
            guard value.hasPrefix("<"), let field = value.split(separator: ".").last else {
                return nil
            }
            return (String(field.dropLast()), value)
        }
        return Dictionary(named) { $1 }
    }
}

extension String {
    /// A text on the server names large fields by what its record was called when it was written.
    fileprivate var withShortNames: String {
        let shorter = replacing(":\(Step.type)@", with: "@").replacing(":Task@", with: "@")
        return shorter == self ? self : shorter.withShortNames
    }
}
