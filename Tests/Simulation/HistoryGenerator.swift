import TestSupport

/// Makes the steps of a history from a seed.
///
/// Each seed does without some kinds of steps and faults, so that the others meet more often
/// (Groce et al., "Swarm Testing", 2012).
struct HistoryGenerator {
    private enum Kind: CaseIterable {
        case edit, replace, editLine, format, attach, delete, deleteAndMake, rename, move,
            removeZone, restart, jump, backUp, restoreServer, retype, read, evict, undo, redo

        /// The kinds of histories in which nobody takes anything back.
        static let wide = allCases.filter { ![.undo, .redo].contains($0) }
        /// Of histories of few machines and one type.
        static let narrow = wide.filter { ![.retype, .read, .evict].contains($0) }

        /// How often, in relation to the others.
        var weight: Int {
            switch self {
            case .edit: 12
            case .undo: 6
            case .replace, .editLine, .format, .attach, .delete: 4
            case .deleteAndMake, .rename, .move, .retype, .read, .redo: 2
            case .removeZone, .restart, .jump, .backUp, .restoreServer, .evict: 1
            }
        }
    }

    private enum FaultKind: CaseIterable {
        case requestLost, answerLost, duplicated, tokenExpired, crashBefore, crashAfter, refused
        case meanwhile, otherRound, cutShort, partly, asset
    }

    private static let fields = ["p", "q", "r"]
    /// Seconds.
    private static let shifts: [Int64] = [0, 90, -90, 10_800, -10_800, 315_360_000]

    private var random: SeededRandom
    private let kinds: [Kind]
    private let faults: [FaultKind]
    private let names: [String]
    private let zones: [String]
    private let types: [String]
    let devices: Int
    /// By which the clock of each machine is wrong.
    let shifts: [Duration]
    /// For how long deletes wait: none, or several steps.
    let grace: Duration
    /// Of a page of a feed, and of a request that uploads.
    let pageRecords: Int
    private let count: Int
    /// Draws the story, apart from the rest.
    private var chance: SeededRandom
    private let story: Story?

    /// Something that takes several steps in their order, which would seldom meet by themselves. It is spread
    /// over a history, of which no other step is about its records.
    private enum Story {
        /// Two machines have a record, which one of them moves and the other edits.
        case crossingMove
        /// Two machines have two records with files beside them. One edits both and renames the second over
        /// the first, the other renames the first over the second.
        case crossingRenames
        /// One machine has two records change places, by a third name, while another one edits the first.
        case changedPlaces
        /// Two machines have a text, of which each edits another line.
        case crossingLines
        /// Two machines edit a field, and one of them removes the record before it hears of the other.
        case crossingRemoval
        /// A record and an edit are newer than the backup to which the server goes back.
        case lostByRestore
        /// Two machines edit different fields of a record that a third one has removed: both make it again.
        case madeAgain
    }

    init(seed: UInt64, isWide: Bool, undoes: Bool = false) {
        var random = SeededRandom(seed: seed)
        let kinds =
            [.edit] + (undoes ? [.undo, .redo] : [])
            + random.half(of: isWide ? Kind.wide : Kind.narrow)
        let hasTypes = isWide && random.below(3) == 0
        types = hasTypes || kinds.contains(.retype) ? [Step.type, "Task"] : [Step.type]
        let restores: [Kind] = [.backUp, .restoreServer]
        self.kinds = kinds.filter { !restores.contains($0) } + random.restores(restores)
        faults = random.half(of: FaultKind.allCases)
        names = Array(["a", "b", "c", "d"].prefix(1 + random.below(4)))
        let hasZones = random.below(3) == 0
        zones = hasZones || kinds.contains(.move) ? ["Box", "Cup"] : ["Box"]
        devices = (isWide ? 3 : 2) + random.below(2)
        pageRecords = random.pick([1, 3, 200])
        count = 20 + random.below(50)
        var shifts = [Duration](repeating: .zero, count: devices)
        if isWide, random.below(2) == 0 {
            for device in shifts.indices { shifts[device] = .seconds(random.pick(Self.shifts)) }
        }
        self.shifts = shifts
        self.random = random
        var chance = SeededRandom(seed: seed ^ 0x0FF0_0000_0000_0000)
        let stories: [Story?] = [
            .crossingMove, .crossingMove, .crossingLines, .crossingLines, .lostByRestore,
            .crossingRemoval, .crossingRenames, .crossingRenames, .changedPlaces,
            .madeAgain, nil,
        ]
        let picked = chance.pick(stories)
        story = isWide ? picked : nil
        let drawn: Duration = chance.pick([.zero, .zero, .seconds(3), .seconds(30)])
        grace =
            switch story {
            case .crossingRemoval: .seconds(30)
            // The removal is sent at once.
            case .madeAgain: .zero
            default: isWide ? drawn : .zero
            }
        self.chance = chance
    }

    mutating func steps() -> [Step] {
        var steps = (0..<count).map { _ in
            let isRound = random.below(3) == 0
            return Step(
                number: 0, device: random.below(devices), pause: random.below(3_000),
                action: isRound ? .round(plan()) : action())
        }
        if let story { spread(story, over: &steps) }
        return steps.enumerated().map { number, step in
            Step(number: number, device: step.device, pause: step.pause, action: step.action)
        }
    }

    private mutating func spread(_ story: Story, over steps: inout [Step]) {
        let one = chance.below(devices)
        let other = (one + 1 + chance.below(devices - 1)) % devices
        // The other machine has heard then, and not sent.
        let isRefused = story == .crossingRemoval && chance.below(2) == 0
        let parts = parts(of: story, one, other, isRefused: isRefused)
        var places = parts.map { _ in chance.below(steps.count + 1) }.sorted()
        if story == .madeAgain {
            // Behind what all know of, nothing comes in between.
            for part in 4..<places.count { places[part] = places[4] }
        }
        for (place, part) in zip(places, parts).reversed() {
            steps.insert(
                Step(number: 0, device: part.device, pause: 1_000, action: part.action), at: place)
        }
    }

    private func parts(
        of story: Story, _ one: Int, _ other: Int, isRefused: Bool
    ) -> [(device: Int, action: Step.Action)] {
        let key = Step.Key(zone: zones[0], type: types[0], name: "m")
        switch story {
        case .crossingMove:
            return [
                (one, .edit(key, ["p"])), (one, .round([])), (other, .round([])),
                (one, moving(key)),
                (other, .edit(key, ["q"])),
            ]
        case .crossingRenames:
            let next = Step.Key(zone: key.zone, type: key.type, name: "k")
            return [
                (one, .edit(key, ["p"])), (one, .attach(key)),
                (one, .edit(next, ["q"])), (one, .attach(next)),
                (one, .round([])), (other, .round([])),
                (one, .edit(key, ["p"])), (one, .edit(next, ["p"])),
                (one, .rename(next, to: key.name)), (other, .rename(key, to: next.name)),
            ]
        case .changedPlaces:
            let next = self.next(key)
            return [
                (one, .edit(key, ["p"])), (one, .edit(next, ["q"])), (one, .round([])),
                (other, .round([])), (other, .edit(key, ["r"])), (one, .rename(key, to: "between")),
            ] + changing(key, next).map { (one, $0) }
        case .crossingLines:
            return [
                (one, .editLine(key, 0)), (one, .round([])), (other, .round([])),
                (one, .editLine(key, 1)), (other, .editLine(key, 3)),
            ]
        case .crossingRemoval:
            return [
                (one, .edit(key, ["p"])), (one, .round([])), (other, .round([])),
                (one, .edit(key, ["p"])), (one, .round([])), (other, .edit(key, ["p"])),
                (other, .delete(key)), (other, .round(isRefused ? [.upload(.refused)] : [])),
            ]
        case .madeAgain:
            let third = (0..<devices).first { $0 != one && $0 != other } ?? one
            return [
                (one, .edit(key, ["p"])), (one, .round([])), (other, .round([])),
                (third, .round([])), (other, .edit(key, ["p"])), (one, .edit(key, ["r"])),
                (third, .delete(key)), (third, .round([])),
                (one, .round([.upload(.otherRound(other))])),
            ]
        case .lostByRestore:
            let next = Step.Key(zone: key.zone, type: key.type, name: "k")
            return [
                (one, .edit(key, ["p"])), (one, .round([])), (one, .backUp),
                (one, .edit(key, ["q"])),
                (one, .edit(next, ["p"])), (one, .round([])), (one, .restoreServer),
            ]
        }
    }

    /// Where `moving` takes it.
    private func next(_ key: Step.Key) -> Step.Key {
        if zones.count > 1 { return Step.Key(zone: zones[1], type: key.type, name: key.name) }
        if types.count > 1 { return Step.Key(zone: key.zone, type: types[1], name: key.name) }
        return Step.Key(zone: key.zone, type: key.type, name: "k")
    }

    /// The second record goes to the place of the first, which is under another name beside that by now, and that
    /// one to the place of the second.
    private func changing(_ first: Step.Key, _ second: Step.Key) -> [Step.Action] {
        let between = Step.Key(zone: first.zone, type: first.type, name: "between")
        let there = Step.Key(zone: second.zone, type: second.type, name: "between")
        if zones.count > 1 {
            return [
                .move(second, to: first.zone), .move(between, to: second.zone),
                .rename(there, to: second.name),
            ]
        }
        if types.count > 1 {
            return [
                .retype(second, to: first.type), .retype(between, to: second.type),
                .rename(there, to: second.name),
            ]
        }
        return [.rename(second, to: first.name), .rename(between, to: second.name)]
    }

    private func moving(_ key: Step.Key) -> Step.Action {
        if zones.count > 1 { return .move(key, to: zones[1]) }
        if types.count > 1 { return .retype(key, to: types[1]) }
        return .rename(key, to: "k")
    }

    private mutating func plan() -> [Step.Fault] {
        guard !faults.isEmpty, random.below(2) == 0 else { return [] }
        if random.below(2) == 0 { return [.upload(fault())] }
        var plan = [Step.Fault](repeating: .none, count: random.below(5))
        plan.append(fault())
        return plan
    }

    private mutating func fault() -> Step.Fault {
        switch random.pick(faults) {
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .tokenExpired: .tokenExpired
        case .crashBefore: .crashBefore
        case .crashAfter: .crashAfter
        case .refused: .refused
        case .cutShort: .cutShort
        case .partly: .upload(.partly)
        case .asset: .asset(isAnswered: random.below(2) == 0)
        case .meanwhile: .meanwhile(action())
        case .otherRound: .otherRound(random.below(devices))
        }
    }

    private mutating func action() -> Step.Action {
        let zone = random.pick(zones)
        let type = types.count > 1 ? random.pick(types) : Step.type
        let key = Step.Key(zone: zone, type: type, name: random.pick(names))
        switch random.pick(kinds, weight: \.weight) {
        case .edit: return .edit(key, [random.pick(Self.fields)])
        case .replace: return .replace(key, random.half(of: Self.fields))
        case .editLine: return .editLine(key, random.below(Step.lineCount))
        case .format: return .format(key, random.below(Step.styleCount))
        case .attach: return .attach(key)
        case .delete: return .delete(key)
        case .deleteAndMake: return .deleteAndMake(key, random.half(of: Self.fields))
        case .rename: return .rename(key, to: random.pick(names))
        case .move: return .move(key, to: other(than: key.zone, of: zones))
        case .retype: return .retype(key, to: other(than: key.type, of: types))
        case .read: return .read(key)
        case .evict: return .evict
        case .removeZone: return .removeZone(key.zone)
        case .undo: return .undo(1 + random.below(2))
        case .redo: return .redo
        case .restart: return .restart
        case .jump: return .jump(random.below(7_200) - 3_600)
        case .backUp: return .backUp
        case .restoreServer: return .restoreServer
        }
    }

    private mutating func other(than place: String, of places: [String]) -> String {
        random.pick(places.filter { $0 != place })
    }
}
