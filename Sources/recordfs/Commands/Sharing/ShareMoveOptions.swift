import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordSync

/// The target of a record that is moved before it is shared.
struct ShareMoveOptions: ParsableArguments {
    @Flag(help: "Move the record and its children to a new zone, and share that zone.")
    var ownZone = false
    @Option(help: "The name of the new zone; by default the name of the record.")
    var zoneName: String?
    @Option(help: "Move it to this zone, or below this record, which is already shared.")
    var into: PathArgument?
    @Flag(
        name: [.customShort("n"), .long],
        help: "With --own-zone or --into: show what would be moved, and change nothing.")
    var dryRun = false

    func validate() throws {
        if ownZone, into != nil {
            throw ValidationError("--own-zone makes a new zone; --into names one that is there.")
        }
        if zoneName != nil, !ownZone {
            throw ValidationError("--zone-name is for --own-zone.")
        }
        if dryRun, !ownZone, into == nil {
            throw ValidationError("--dry-run is for --own-zone and --into.")
        }
    }

    /// Returns the request. Returns nil when no record is to be moved.
    func request(
        _ place: LocatedPath, _ edit: ShareEdit, _ state: StateOptions
    ) throws -> SharingRequest? {
        if let target = try target(place, state) { return .add(place.path, to: target) }
        guard ownZone else { return nil }
        return .createInOwnZone(place.path, zone: try zone(place), edit.json)
    }

    /// Prints the records that would be moved.
    func show(_ place: LocatedPath, _ state: StateOptions, json: Bool) throws {
        let target = try target(place, state) ?? zone(place)
        let store = try place.store.reader()
        let plan = try place.store.reporting(place.text) {
            () throws(RecordError) -> TreeMovePlan in
            let parent = try target.stem == nil ? nil : store.meta(of: store.record(at: target).id)
            let move = try TreeMove(
                of: try store.record(at: place.path), to: target, under: parent?.name)
            return ownZone ? try store.past.plan(ofOwnZone: move) : try store.past.plan(of: move)
        }
        let spelling = PathSpelling(for: place.store)
        for step in plan.steps {
            let old = RecordPath(
                database: plan.source.database, owner: plan.source.owner, zone: plan.source.name,
                type: step.type, item: .record(step.stem))
            let new = RecordPath(
                database: target.database, owner: target.owner, zone: target.zone,
                type: step.type, item: .record(step.stem))
            if json {
                Showing.jsonLine(["path": .text(old.bytes), "to": .text(new.bytes)])
            } else {
                Terminal.print(
                    spelling.spell(old.bytes) + Array(" -> ".utf8) + spelling.spell(new.bytes)
                        + [UInt8(ascii: "\n")])
            }
        }
    }

    private func target(
        _ place: LocatedPath, _ state: StateOptions
    ) throws -> RecordPath? {
        guard let into else { return nil }
        let target = try into.located(by: state)
        guard HostDirectory.isSame(place.store.directory, target.store.directory) else {
            throw CommandFailure(
                into.text, "is in another store than \(place.text). A record is moved within one.")
        }
        return target.path
    }

    /// Returns the new zone.
    ///
    /// Errors: the record's name cannot be the name of a zone.
    private func zone(_ place: LocatedPath) throws -> RecordPath {
        guard place.path.database == .private, let stem = place.path.stem else {
            throw CommandFailure(
                place.text, "is no record of private: a zone can be shared as it is.")
        }
        let name = ZoneName(bytes: zoneName.map { Array($0.utf8) } ?? stem.decoded?.bytes ?? [])
        guard name.isValid else {
            throw CommandFailure(
                place.text, "\(name) cannot be the name of a zone. --zone-name gives another.")
        }
        return RecordPath(database: .private, zone: name)
    }
}
