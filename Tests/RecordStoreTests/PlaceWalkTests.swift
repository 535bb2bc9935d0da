import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random zones and types that are made, emptied, removed and made again: what is listed, and what
/// is kept of removed places, is what a plain model says.
@Suite struct PlaceWalkTests {
    @Test(
        "places come, go and come back with what is kept of them",
        arguments: LongForm.seeds(8, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try PlaceWalk(seed: UInt64(seed))
        try walk.take(70, seed: seed)
    }
}

private final class PlaceWalk: StoreWalk {
    private struct Place: Hashable {
        let zone: String
        let type: String
    }

    private enum State { case saved, waiting }

    private let fixture: StoreFixture
    private var random: SeededRandom
    private var zones: Set<String> = ["Box"]
    private var zoneIDs: [String: ZoneID] = [:]
    private var types: [Place: TypeID] = [:]
    /// Removed types whose last deletions are not final yet.
    private var leaving: Set<Place> = []
    private var records: [Place: [String: State]] = [:]
    private var trash: [Place: Int] = [:]
    private var past: Set<Place> = []
    private var withHistory: Set<Place> = []
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        zoneIDs["Box"] = fixture.zone.id
        types[Place(zone: "Box", type: "Note")] = fixture.note
        types[Place(zone: "Box", type: "Task")] = fixture.task
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let place = Place(
            zone: random.pick(["Box", "Attic"]), type: random.pick(["Note", "Task"]))
        steps.append(try step(place))
        try expectPlaces()
        // A look into the trash ends the deletions in removed types.
        if random.below(3) == 0 { try expectTrash() }
        if steps.count.isMultiple(of: 15) { try fixture.expectSound() }
    }

    private func step(_ place: Place) throws -> String {
        let name = "\(place.zone)/\(place.type)"
        switch random.below(14) {
        case 0: return try makeZone(place.zone)
        case 1: return try removeZone(place.zone)
        case 2, 3: return try makeType(place)
        case 4: return try removeType(place, isLate: false)
        case 5, 6: return try removeType(place, isLate: true)
        case 7, 8, 9:
            guard let type = types[place] else { return "nothing" }
            let stem = "\(place.type)\(random.below(2))"
            try fixture.save(stem, "{\"n\":\(steps.count)}", type: type)
            records[place, default: [:]][stem] = .saved
            withHistory.insert(place)
            return "save \(name)/\(stem)"
        case 10, 11:
            guard let type = types[place],
                let stem = records[place]?.filter({ $0.value == .saved }).keys.min(),
                let id = try fixture.record(stem, type: type)?.id
            else { return "nothing" }
            try fixture.beginDelete(id)
            records[place]?[stem] = .waiting
            return "remove \(name)/\(stem)"
        case 12:
            // Any other author than the mount finds no type that is about to go.
            try fixture.write(.commandLine) { _ throws(RecordError) in }
            finishLeaving()
            return "a command"
        default:
            try fixture.reopen()
            if random.below(2) == 0 { return "reopen" }
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
            for place in records.keys { finalize(place) }
            leaving = []
            return "reopen and finalize"
        }
    }

    // MARK: The model

    private func finalize(_ place: Place) {
        let ended = records[place]?.filter { $0.value == .waiting } ?? [:]
        records[place] = records[place]?.filter { $0.value != .waiting }
        if !ended.isEmpty { trash[place, default: 0] += ended.count }
    }

    private func finishLeaving() {
        for place in leaving { finalize(place) }
        leaving = []
    }

    // MARK: Steps

    private func makeZone(_ zone: String) throws -> String {
        let made = try fixture.write { transaction throws(RecordError) in
            try transaction.makeZone(.private, .me, ZoneName(zone))
        }
        if let known = zoneIDs[zone], known != made.id { differences.append("\(zone) has two ids") }
        zoneIDs[zone] = made.id
        zones.insert(zone)
        return "make \(zone)"
    }

    private func removeZone(_ zone: String) throws -> String {
        guard let id = zoneIDs[zone] else { return "nothing" }
        let error = failure {
            try fixture.write { transaction throws(RecordError) in try transaction.removeZone(id) }
        }
        let isEmpty = !types.keys.contains { $0.zone == zone }
        let right: RecordError.Code? = !zones.contains(zone) ? .notFound : isEmpty ? nil : .notEmpty
        if error?.code != right {
            differences.append("\(zone) is removed: \(String(describing: error))")
        }
        if right == nil {
            zones.remove(zone)
            finishLeaving()
        }
        return "remove \(zone): \(right?.rawValue ?? "gone")"
    }

    private func makeType(_ place: Place) throws -> String {
        guard let zone = zoneIDs[place.zone] else { return "nothing" }
        do throws(RecordError) {
            let made = try fixture.write { transaction throws(RecordError) in
                try transaction.makeType(zone, RecordTypeName(place.type))
            }
            if !zones.contains(place.zone) { differences.append("\(place) is made in no zone") }
            if let known = types[place], known != made.id {
                differences.append("\(place) has a new number")
            }
            if types[place] == nil { finishLeaving() }
            types[place] = made.id
            return "make \(place.zone)/\(place.type)"
        } catch {
            if error.code != .notFound || zones.contains(place.zone) {
                differences.append("\(place) is not made: \(error)")
            }
            return "no \(place.zone)"
        }
    }

    private func removeType(_ place: Place, isLate: Bool) throws -> String {
        guard let type = types[place] else { return "nothing" }
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                isLate
                    ? try transaction.beginRemovingType(type) : try transaction.removeType(type)
            }
        }
        let hasSaved = records[place]?.values.contains(.saved) == true
        if error?.code != (hasSaved ? .notEmpty : nil) {
            differences.append("\(place) is removed: \(String(describing: error))")
        }
        guard error == nil else { return "keep \(place.zone)/\(place.type)" }
        types[place] = nil
        past.insert(place)
        if isLate, records[place]?.isEmpty == false {
            leaving.insert(place)
        } else {
            finalize(place)
        }
        return "remove \(place.zone)/\(place.type)\(isLate ? " later" : "")"
    }

    // MARK: What is listed

    private func expect(_ found: [String], _ right: some Sequence<String>, _ what: String) {
        if found != right.sorted() {
            differences.append("\(what): \(found), not \(right.sorted())")
        }
    }

    private func expectPlaces() throws {
        let store = fixture.store
        expect(try store.zones(in: .private).map { "\($0.name)" }, zones, "zones")
        let kept = withHistory.filter { !zones.contains($0.zone) }.map(\.zone)
        expect(
            try store.past.zones(in: .private, with: .history).map { "\($0.name)" },
            zones.union(kept), "zones with history")
        for (zone, id) in zoneIDs {
            let own = types.keys.filter { $0.zone == zone }.map(\.type)
            expect(try store.types(in: id).map { "\($0.name)" }, own, "types of \(zone)")
            let isThere = try store.zone(id) != nil
            if isThere != zones.contains(zone) { differences.append("\(zone) is here: \(isThere)") }
            let before = past.filter { $0.zone == zone }.map(\.type)
            let all = Set(own).union(before)
            expect(
                try store.past.types(in: id, with: .history).map { "\($0)" }, all,
                "types of \(zone) with history")
            for type in ["Note", "Task"] {
                let has = try store.past.hasKeptType(id, RecordTypeName(type))
                if has != all.contains(type) {
                    differences.append("\(zone)/\(type) is kept: \(has)")
                }
            }
        }
        for (place, type) in types {
            let shown = records[place]?.filter { $0.value == .saved }.keys.map { $0 } ?? []
            let listed = try fixture.names(type)
            expect(listed, shown, "records of \(place)")
        }
    }

    private func expectTrash() throws {
        finishLeaving()
        for (zone, id) in zoneIDs {
            let entries = try fixture.store.past.trash(in: id)
            for type in ["Note", "Task"] {
                let count = entries.filter { "\($0.type)" == type }.count
                let right = trash[Place(zone: zone, type: type)] ?? 0
                if count != right {
                    differences.append("\(count) of \(zone)/\(type), not \(right)")
                }
                let has = try fixture.store.past.hasTrash(in: id, type: RecordTypeName(type))
                if has != (right > 0) { differences.append("\(zone)/\(type) has trash: \(has)") }
            }
            let right = trash.keys.filter { $0.zone == zone }.map(\.type)
            expect(
                try fixture.store.past.types(in: id, with: .trash).map { "\($0)" }, right,
                "types of \(zone) with trash")
        }
        expect(
            try fixture.store.past.zones(in: .private, with: .trash).map { "\($0.name)" },
            Set(trash.keys.map(\.zone)), "zones with trash")
    }
}
