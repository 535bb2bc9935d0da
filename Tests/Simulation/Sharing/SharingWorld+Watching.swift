import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport

/// What has to be true at each step of a history of several users.
extension SharingWorld {
    // MARK: The server

    /// The records that an upload deletes.
    static func deletedKeys(in body: JSONValue) -> Set<Step.Key> {
        keys(in: body) { $0.lowercased().hasSuffix("delete") }
    }

    /// The records that an upload is about.
    private static func keys(
        in body: JSONValue, where isMeant: (String) -> Bool = { _ in true }
    ) -> Set<Step.Key> {
        guard let zone = body["zoneID"]?["zoneName"]?.string?.string else { return [] }
        var keys: Set<Step.Key> = []
        for operation in body["operations"]?.array ?? [] {
            guard isMeant(operation["operationType"]?.string?.string ?? ""),
                let name = operation["record"]?["recordName"]?.string?.string
            else { continue }
            keys.insert(Step.Key(zone: zone, name: name))
        }
        return keys
    }

    struct Reading: Sendable {
        let zone: ServerWatch.Reading
        let shares: [ShareRow]
    }

    /// - Parameters:
    ///   - user: whose request has changed it.
    ///   - deleting: the records that the request deletes.
    func readServer(after user: Int, deleting: Set<Step.Key> = []) async throws {
        let readings = try await readings()
        let (before, modelBefore) = (shared, model)
        var changes: [SharedServer.Change] = []
        for (name, reading) in zip(zones, readings) {
            let incarnation = shared.zones[name]?.incarnation
            if incarnation != nil, incarnation != reading.zone.row?.incarnation {
                model.endZone(name)
            }
            changes += shared.read(name, reading.zone, photos)
        }
        for change in changes {
            problems += oracle.judge(change, by: user, before, shared, modelBefore)
            if change.new == nil {
                model.end(SharedSpot(zone: change.key.zone, root: change.key.name))
            }
        }
        noteLeaving(user, deleting, readings)
        for (name, reading) in zip(zones, readings) { compare(name, reading.shares) }
        tellParticipants()
    }

    /// What they see of the server now.
    func tellParticipants() {
        for user in Set(machines.map(\.user)) where user != 0 {
            oracle.tell(user, shared.visible(to: user, model))
        }
        oracle.noteRights(shared, model)
    }

    func readings() async throws -> [Reading] {
        let (names, known) = (zones, shared.zones)
        let database = TestServer.database(of: Self.owner)
        return try await server.storage.read { (reader) throws(ServerError) in
            var readings: [Reading] = []
            for name in names {
                let key = ZoneKey(database: database, zone: ZoneName(name))
                let zone = try ServerWatch.Reading(
                    key, reader, known[name].map { ($0.incarnation, $0.position) })
                readings.append(Reading(zone: zone, shares: try reader.shares(key)))
            }
            return readings
        }
    }

    /// Whoever deletes the root of what others share with him leaves.
    private func noteLeaving(_ user: Int, _ deleting: Set<Step.Key>, _ readings: [Reading]) {
        guard user != 0 else { return }
        for key in deleting {
            let spot = SharedSpot(zone: key.zone, root: key.name)
            guard model.shares[spot]?.permission(of: user) ?? .none != .none,
                let place = zones.firstIndex(of: key.zone),
                let row = readings[place].shares.first(where: { $0.root?.description == key.name }),
                told(row).members[user] == nil
            else { continue }
            model.leave(spot, user)
        }
    }

    /// Whoever may change a record, or put one where it is sent, is not refused; unless the request has
    /// done something else to what it is to hang on.
    func judge(refusals answer: JSONValue, of body: JSONValue, _ number: Int) throws {
        guard let zone = body["zoneID"]?["zoneName"]?.string?.string else { return }
        let items = answer["records"]?.array ?? []
        let done = items.filter { $0["serverErrorCode"] == nil }.compactMap {
            $0["recordName"]?.string.map { Step.Key(zone: zone, name: $0.string) }
        }
        for item in items where item["serverErrorCode"] == "ACCESS_DENIED" {
            guard let name = item["recordName"]?.string?.string,
                let operation = body["operations"]?.array?.first(where: {
                    $0["record"]?["recordName"]?.string?.string == name
                })
            else { continue }
            let key = Step.Key(zone: zone, name: name)
            let parent = operation["record"]?["parent"]?["recordName"]?.string?.string
            if !shared.chain(from: key, below: parent).isDisjoint(with: done) { continue }
            if try mayWrite(
                key, below: parent, hasParent: operation["record"]?["parent"] != nil, number)
            {
                problems.append("Machine \(number) was refused \(key), which its user may change.")
            }
        }
    }

    private func mayWrite(
        _ key: Step.Key, below parent: String?, hasParent: Bool, _ number: Int
    ) throws -> Bool {
        let user = machines[number].user
        if shared.version(of: key) != nil {
            return !hasParent && shared.permission(of: user, key, model) == .readWrite
        }
        if let parent {
            let above = Step.Key(zone: key.zone, name: parent)
            return shared.version(of: above) != nil
                && shared.permission(of: user, above, model) == .readWrite
        }
        // Where it is clear on what it hangs, the machine says so.
        let spots = model.spots(of: user, in: key.zone)
        guard spots.count == 1, let (spot, permission) = spots.first, permission == .readWrite,
            let info = try info(of: key.zone, number)
        else { return false }
        let known = try machines[number].replica.store.sharing.shares(in: info.id)
        return known.map(\.name.description) == [spot.shareName]
    }

    private func told(_ row: ShareRow) -> ShareModel.Sharing {
        var users: [UserName: Int] = [:]
        for (user, person) in Self.people.enumerated() { users[person.user ?? Self.owner] = user }
        return ShareModel.Sharing(row, users: users).told
    }

    /// The shares of the server are those of the model.
    func compare(_ zone: String, _ rows: [ShareRow]) {
        var found: [SharedSpot: ShareModel.Sharing] = [:]
        for row in rows {
            found[SharedSpot(zone: zone, root: row.root?.description)] = told(row)
        }
        let wanted = model.shares.filter { $0.key.zone == zone }.mapValues(\.told)
        guard found != wanted else { return }
        problems.append("The shares of \(zone) are \(found) on the server, not \(wanted).")
    }

    // MARK: Machines

    func files(_ replica: Replica) throws -> [Step.Key: String] { try replica.files(in: zones) }

    /// What a round has taken from a participant is never sent.
    func noteEnded(_ machine: Int, _ before: [Step.Key: String]) throws {
        guard !machines[machine].isOfOwner else { return }
        let after = try files(machines[machine].replica)
        for (key, text) in before where after[key] == nil && !deletedInRound.contains(key) {
            oracle.withdraw(Set(Record.values(in: text)), of: machines[machine].user)
        }
    }

    /// Looks at those on which something has happened.
    func lookAtMachines() throws {
        for number in changed.sorted() {
            let replica = machines[number].replica
            let files = try files(replica)
            traceChanges(on: number, files)
            for zone in zones { oracle.keep(try replica.valuesOfConflicts(zone: zone)) }
            if !machines[number].isOfOwner { try judge(files, on: number) }
        }
        changed = []
    }

    /// A participant shows no word of others that he was not told since he has the record.
    private func judge(_ files: [Step.Key: String], on number: Int) throws {
        let user = machines[number].user
        for (key, text) in files.sorted(by: { $0.key < $1.key }) {
            for word in Record.values(in: text) where !oracle.knows(user, word, of: key) {
                problems.append("Machine \(number) has \(word) in \(key), which is not for it.")
            }
        }
        let visible = shared.visible(to: user, model)
        for zone in zones {
            if try info(of: zone, number) == nil { oracle.forget(user, zone: zone) }
        }
        for key in Set(visible.keys).union(lastFiles[number, default: [:]].keys)
        where files[key] == nil {
            oracle.forget(user, key, visible: visible[key]?.words)
        }
        lastFiles[number] = files
    }

    private func traceChanges(on number: Int, _ files: [Step.Key: String]) {
        let before = lastFiles[number, default: [:]]
        for key in Set(files.keys).union(before.keys).sorted() where files[key] != before[key] {
            trace.append("machine \(number) has \(key) \(files[key] ?? "no more")")
        }
        if machines[number].isOfOwner { lastFiles[number] = files }
    }
}
