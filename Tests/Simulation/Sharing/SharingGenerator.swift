import RecordWire
import TestSupport

/// Makes the steps of a history of several users from a seed. Each seed does without some kinds, as in
/// `HistoryGenerator`.
struct SharingGenerator {
    private enum Kind: CaseIterable {
        case edit, hang, attach, read, delete, removeZone, restart, jump
        case share, invite, remove, open, stop, accept, leave, administer
        case backUp, restoreServer

        /// How often, in relation to the others.
        var weight: Int {
            switch self {
            case .edit: 10
            case .hang, .accept, .administer: 4
            case .attach, .read, .delete, .invite: 3
            case .share, .remove: 2
            case .open, .stop, .leave, .restart, .jump, .removeZone, .backUp, .restoreServer: 1
            }
        }
        var isOfRestores: Bool { self == .backUp || self == .restoreServer }
        /// Without which there is nothing to look at.
        static let always: [Kind] = [.edit, .hang, .share, .invite, .accept]
    }

    private enum FaultKind: CaseIterable {
        case requestLost, answerLost, duplicated, tokenExpired, crashBefore, crashAfter, cutShort
        case meanwhile, otherRound, asset
    }

    static let fields = ["p", "q", "r"]
    private static let hour = 3_600

    private var random: SeededRandom
    private let kinds: [Kind]
    private let faults: [FaultKind]
    private let names: [String]
    private let spots: [SharedSpot]
    let zones: [String]
    /// The user of each machine: 0 for the owner.
    let users: [Int]
    /// By which the clock of each user is wrong, in seconds.
    let shifts: [Int]
    let pageRecords: Int
    private let count: Int
    /// Which deletions are renames, drawn apart from the rest: the other histories are as they were.
    private var renames: SeededRandom
    private let hasRenames: Bool
    /// Draws the story, in the same way.
    private var chance: SeededRandom
    private let hasStory: Bool

    init(seed: UInt64) {
        renames = SeededRandom(seed: seed ^ 0x0FF0_0000_0000_0000)
        hasRenames = renames.below(3) == 0
        chance = SeededRandom(seed: seed ^ 0x00FF_0000_0000_0000)
        hasStory = chance.below(4) == 0
        // Another history than the one of `HistoryGenerator` with that seed.
        var random = SeededRandom(seed: seed ^ 0x5AA5_0000_0000_0000)
        let others = Kind.allCases.filter { !Kind.always.contains($0) && !$0.isOfRestores }
        kinds = Kind.always + random.half(of: others) + random.restores([.backUp, .restoreServer])
        faults = random.half(of: FaultKind.allCases)
        names = Array(["a", "b", "c", "d"].prefix(2 + random.below(3)))
        zones = random.below(4) == 0 ? ["Box", "Cup"] : ["Box"]
        let participants = 1 + random.below(3)
        let owners = [Int](repeating: 0, count: 1 + random.below(2))
        users = owners + (1...participants)
        shifts = (0...participants).map { _ in (random.below(3) - 1) * Self.hour }
        pageRecords = random.pick([1, 3, 200])
        count = 20 + random.below(50)
        let (zones, names) = (zones, names)
        let wholes = zones.map { SharedSpot(zone: $0, root: nil) }
        let parts = zones.flatMap { zone in
            names.prefix(2).map { SharedSpot(zone: zone, root: $0) }
        }
        spots = random.pick([wholes, parts, wholes + parts])
        self.random = random
    }

    mutating func steps() -> [SharingStep] {
        let begin = random.below(4) == 0 ? [] : beginning()
        var steps = begin.map { Self.step($0.0, $0.1) }
        for _ in 0..<count {
            let isRound = random.below(3) == 0
            let machine = random.below(users.count)
            steps.append(
                SharingStep(
                    number: 0, machine: machine, pause: random.below(3_000),
                    action: isRound ? .round(plan()) : action()))
        }
        if hasStory { spreadStory(over: &steps, from: begin.count) }
        return steps.enumerated().map { number, step in
            SharingStep(
                number: number, machine: step.machine, pause: step.pause, action: step.action)
        }
    }

    private static func step(_ machine: Int, _ action: SharingStep.Action) -> SharingStep {
        SharingStep(number: 0, machine: machine, pause: 1_000, action: action)
    }

    // MARK: The story

    /// A record with a large field leaves a hierarchy of which its reader keeps the rest: what takes several
    /// steps in their order. No other step is about its records.
    private mutating func spreadStory(over steps: inout [SharingStep], from start: Int) {
        let story = story()
        let places = story.map { _ in start + chance.below(steps.count + 1 - start) }.sorted()
        for (place, step) in zip(places, story).reversed() { steps.insert(step, at: place) }
    }

    private mutating func story() -> [SharingStep] {
        let machine = chance.pick(Array(users.indices.filter { users[$0] != 0 }))
        let (top, below) = (
            Step.Key(zone: zones[0], name: "s"), Step.Key(zone: zones[0], name: "t")
        )
        let spot = SharedSpot(zone: top.zone, root: top.name)
        let invitation = SharingStep.Invitation(
            user: users[machine], permission: chance.pick([.readWrite, .readOnly]),
            isAdministrator: false)
        return [
            Self.step(0, .hang(top, below: nil)), Self.step(0, .hang(below, below: top.name)),
            Self.step(0, .attach(below)), Self.step(0, .round([])), Self.step(0, .share(spot)),
            Self.step(0, .manage(.invite(spot, invitation))), Self.step(machine, .accept(spot)),
            Self.step(machine, .round([])), Self.step(0, .hang(below, below: nil)),
            Self.step(0, .round([])),
        ]
    }

    /// Something is shared, and somebody has it: what takes long by chance.
    private mutating func beginning() -> [(machine: Int, SharingStep.Action)] {
        let zone = random.pick(zones)
        // Some are nobody's yet.
        let made = names.prefix(1 + random.below(names.count))
        let records = made.map { name in
            let key = Step.Key(zone: zone, name: name)
            return (0, SharingStep.Action.hang(key, below: parent(of: name)))
        }
        var steps = records + [(0, .round([]))]
        let spots = spots.filter { $0.zone == zone }
        let first = random.pick(spots)
        // Two at once, where they go together.
        for spot in [first] + spots.filter({ $0 != first && random.below(3) == 0 }) {
            steps.append((0, .share(spot)))
            for (machine, user) in users.enumerated() where user > 0 && random.below(3) > 0 {
                let permission = random.below(4) == 0 ? SharePermission.readOnly : .readWrite
                steps += [
                    (0, .manage(.invite(spot, invitation(user, permission)))),
                    (machine, .accept(spot)), (machine, .round([])),
                ]
            }
        }
        return steps
    }

    /// One before it, so that nothing ever hangs on itself.
    private mutating func parent(of name: String) -> String? {
        let earlier = names.prefix { $0 < name }
        guard !earlier.isEmpty, random.below(4) > 0 else { return nil }
        return random.pick(Array(earlier))
    }

    // MARK: Faults

    private mutating func plan() -> [SharingStep.Fault] {
        guard !faults.isEmpty, random.below(2) == 0 else { return [] }
        if random.below(2) == 0 { return [.upload(fault())] }
        var plan = [SharingStep.Fault](repeating: .none, count: random.below(4))
        plan.append(fault())
        return plan
    }

    private mutating func fault() -> SharingStep.Fault {
        switch random.pick(faults) {
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .tokenExpired: .tokenExpired
        case .crashBefore: .crashBefore
        case .crashAfter: .crashAfter
        case .cutShort: .cutShort
        case .meanwhile: .meanwhile(machine: random.below(users.count), actionMeanwhile())
        case .otherRound: .otherRound(random.below(users.count))
        case .asset: .asset(isAnswered: random.below(2) == 0)
        }
    }

    /// No machine starts again under a request.
    private mutating func actionMeanwhile() -> SharingStep.Action {
        while true {
            let action = action()
            switch action {
            case .restart, .read, .backUp, .restoreServer: continue
            default: return action
            }
        }
    }

    private mutating func interruption() -> SharingStep.Interruption? {
        switch random.below(6) {
        case 0: .crash
        case 1, 2: .meanwhile(machine: random.below(users.count), actionMeanwhile())
        default: nil
        }
    }

    // MARK: Actions

    private mutating func action() -> SharingStep.Action {
        let key = Step.Key(zone: random.pick(zones), name: random.pick(names))
        let (spot, user) = (random.pick(spots), 1 + random.below(users.max() ?? 1))
        switch random.pick(kinds, weight: \.weight) {
        case .edit: return .edit(key, random.pick(Self.fields))
        case .hang: return .hang(key, below: parent(of: key.name))
        case .attach: return .attach(key)
        case .read: return .read(key, interruption())
        case .delete: return removal(of: key)
        case .removeZone: return .removeZone(key.zone)
        case .restart: return .restart
        case .jump: return .jump(random.below(2 * Self.hour) - Self.hour)
        case .share: return .share(spot)
        case .invite: return .manage(.invite(spot, invitation(user, permission())))
        case .remove: return .manage(.remove(spot, user))
        case .open: return .manage(.open(spot, permission()))
        case .administer: return .manageAsUser(management(spot, user))
        case .stop: return .stop(spot)
        case .accept: return .accept(spot)
        case .leave: return .leave(spot)
        case .backUp: return .backUp
        case .restoreServer: return .restoreServer
        }
    }

    private mutating func removal(of key: Step.Key) -> SharingStep.Action {
        guard hasRenames, renames.below(2) == 0 else { return .delete(key) }
        return .rename(key, to: renames.pick(["y", "z"]))
    }

    private mutating func invitation(
        _ user: Int, _ permission: SharePermission
    ) -> SharingStep.Invitation {
        let isAdministrator = kinds.contains(.administer) && random.below(2) == 0
        return SharingStep.Invitation(
            user: user, permission: permission, isAdministrator: isAdministrator)
    }

    private mutating func management(
        _ spot: SharedSpot, _ user: Int
    ) -> SharingStep.Management {
        switch random.below(8) {
        case 0: .open(spot, permission())
        case 1, 2, 3: .remove(spot, user)
        default: .invite(spot, invitation(user, permission()))
        }
    }

    private mutating func permission() -> SharePermission {
        random.pick([.readWrite, .readWrite, .readOnly, .readOnly, .none])
    }
}
