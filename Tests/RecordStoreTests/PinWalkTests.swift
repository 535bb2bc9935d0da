import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random pins of records, types and zones with large fields of which some are not here: the list of
/// pins counts what a plain look at all files counts, and no pinned file is ever given up.
@Suite struct PinWalkTests {
    @Test(
        "pins count the files below them, keep those that are here and ask for those that are not",
        arguments: LongForm.seeds(10, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try PinWalk(seed: UInt64(seed))
        try walk.take(50, seed: seed)
    }
}

private final class PinWalk: StoreWalk {
    private struct Place: Hashable {
        let type: String
        let stem: String
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The bytes of each record's one file. Each file has bytes of its own.
    private var files: [Place: String] = [:]
    private var isHere: [String: Bool] = [:]
    private var isSent = false
    private var pinned: Set<Place> = []
    private var pinnedTypes: Set<String> = []
    private var isZonePinned = false
    private var count = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    private func type(_ name: String) -> TypeID { name == "Note" ? fixture.note : fixture.task }

    private func id(_ place: Place) throws -> RecordID? {
        try fixture.record(place.stem, type: type(place.type))?.id
    }

    private func isPinned(_ place: Place) -> Bool {
        isZonePinned || pinnedTypes.contains(place.type) || pinned.contains(place)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        count += 1
        let place = Place(
            type: random.pick(["Note", "Task"]), stem: random.pick(["a", "b", "c"]))
        steps.append(try step(place))
        try expectModel()
        if steps.count.isMultiple(of: 10) { try fixture.expectSound() }
    }

    private func step(_ place: Place) throws -> String {
        switch random.below(12) {
        case 0, 1, 2: return try write(place)
        case 3:
            guard let id = try id(place), files[place] != nil else { return "nothing" }
            try fixture.delete(id)
            (files[place], isSent) = (nil, false)
            pinned.remove(place)
            return "delete \(place.type)/\(place.stem)"
        case 4, 5:
            guard let id = try id(place) else { return "nothing" }
            let isNew = try pin(.record(id), !pinned.contains(place))
            if isNew { pinned.insert(place) } else { pinned.remove(place) }
            return "pin \(place.type)/\(place.stem): \(isNew)"
        case 6:
            let isNew = try pin(.type(type(place.type)), !pinnedTypes.contains(place.type))
            if isNew { pinnedTypes.insert(place.type) } else { pinnedTypes.remove(place.type) }
            return "pin \(place.type): \(isNew)"
        case 7:
            isZonePinned = try pin(.zone(fixture.zone.id), !isZonePinned)
            return "pin zone: \(isZonePinned)"
        case 8:
            try fixture.sendAll(tag: "t\(count)")
            isSent = true
            return "send"
        case 9, 10: return try evict()
        default: return try fetch()
        }
    }

    private func write(_ place: Place) throws -> String {
        let bytes = "bytes of \(count)" + String(repeating: "x", count: random.below(30))
        let record = try id(place) ?? fixture.save(place.stem, "{}", type: type(place.type)).id
        try fixture.setAsset(record, "file", bytes: bytes)
        (files[place], isHere[bytes], isSent) = (bytes, true, false)
        return "write \(place.type)/\(place.stem) \(bytes)"
    }

    /// Pins or unpins a place, twice: the second time changes nothing.
    private func pin(_ target: PinTarget, _ isPinned: Bool) throws -> Bool {
        for isFirst in [true, false] {
            let isChanged = try fixture.write { transaction throws(RecordError) in
                isPinned
                    ? try transaction.assets.pin(target, in: self.fixture.zone.id)
                    : try transaction.assets.unpin(target)
            }
            if isChanged != isFirst { differences.append("\(target) says \(isChanged)") }
        }
        return isPinned
    }

    /// Gives up what can be given up. Nothing else refers to the files of records that are sent.
    private func evict() throws -> String {
        try fixture.store.assets.evictAssets(keeping: 0)
        for (place, bytes) in files {
            let hash = try #require(try entry(place)?.hash)
            let isStored = fixture.exists(hash)
            if isPinned(place), isStored != isHere[bytes] {
                differences.append("the pinned \(place) is given up")
            }
            if !isPinned(place), isSent, isStored { differences.append("\(place) stays") }
            if !isSent {
                isHere[bytes] = isStored
            } else if !isPinned(place) {
                isHere[bytes] = false
            }
        }
        return "evict"
    }

    /// The bytes of one missing pinned file arrive.
    private func fetch() throws -> String {
        let missing = files.filter { isPinned($0.key) && isHere[$0.value] == false }
        guard let place = missing.keys.min(by: { "\($0)" < "\($1)" }), let bytes = files[place],
            let id = try id(place)
        else { return "nothing" }
        try fixture.setAsset(id, "file", bytes: bytes)
        isHere[bytes] = true
        return "fetch \(place.type)/\(place.stem)"
    }

    private func entry(_ place: Place) throws -> AssetEntry? {
        guard let id = try id(place) else { return nil }
        return try fixture.store.assets.asset(id, FieldName("file"), nil)
    }

    // MARK: What is listed

    private func line(_ type: String?, _ stem: String?, _ places: [Place]) -> String {
        let missing = places.compactMap { files[$0] }.filter { isHere[$0] == false }
        let bytes = missing.reduce(0) { $0 + $1.utf8.count }
        return "\(type ?? "-")/\(stem ?? "-"): \(places.count) \(missing.count) \(bytes)"
    }

    private func expectModel() throws {
        let all = Array(files.keys)
        var right = pinned.map { line($0.type, $0.stem, files[$0] == nil ? [] : [$0]) }
        right += pinnedTypes.map { type in line(type, nil, all.filter { $0.type == type }) }
        if isZonePinned { right.append(line(nil, nil, all)) }
        let pins = try fixture.store.assets.pins().map { pin in
            "\(pin.type.map(\.description) ?? "-")/\(pin.stem.map(\.description) ?? "-"): "
                + "\(pin.files) \(pin.missingFiles) \(pin.missingBytes)"
        }
        if pins.sorted() != right.sorted() {
            differences.append("pins \(pins.sorted()), not \(right.sorted())")
        }
        let missing = all.filter { isPinned($0) && isHere[files[$0] ?? ""] == false }
        let hashes = Set(try missing.compactMap { try entry($0)?.hash })
        let asked = try fixture.store.assets.missingPinnedAssets(limit: 100).compactMap(\.hash)
        if Set(asked) != hashes || asked.count != hashes.count {
            differences.append("\(asked.count) files are asked for, not \(hashes.count)")
        }
        if let one = hashes.first {
            let others = try fixture.store.assets.missingPinnedAssets(limit: 100, except: [one])
            if others.count != hashes.count - 1 { differences.append("an exception is asked for") }
            let few = try fixture.store.assets.missingPinnedAssets(limit: 1)
            if few.count != 1 { differences.append("\(few.count) files for a limit of 1") }
        }
    }
}
