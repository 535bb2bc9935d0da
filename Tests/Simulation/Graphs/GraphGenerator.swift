import RecordModel
import RecordObjects
import TestSupport

/// Makes the steps of a history of graphs from a seed. Each seed does without some kinds of steps and
/// faults, so that the others meet more often.
struct GraphGenerator {
    private enum Kind: CaseIterable {
        case title, kind, add, remove, replace, delete, rename

        var weight: Int {
            switch self {
            case .add, .replace: 8
            case .title, .remove: 3
            case .kind: 6
            case .delete: 4
            case .rename: 2
            }
        }
    }

    private enum FaultKind: CaseIterable {
        case requestLost, answerLost, duplicated, cutShort, crashBefore, crashAfter, partly
        case meanwhile, otherRound
    }

    private static let namesMax = 4

    private var random: SeededRandom
    private let kinds: [Kind]
    private let faults: [FaultKind]
    private let types: [String]
    private let hasRestarts: Bool
    /// The number of names of each type.
    private let names: Int
    private let count: Int
    let devices: Int
    let pageRecords: Int

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0x6A09_0000_0000_0000)
        // Where tags are merged, less can be said of the others.
        let all = random.below(3) == 0 ? Kind.allCases : Kind.allCases.filter { $0 != .kind }
        kinds = [.add] + random.half(of: all)
        faults = random.half(of: FaultKind.allCases)
        // A book has all kinds of relationships.
        types = ["Book"] + random.half(of: GraphModel.types.keys.sorted())
        hasRestarts = random.below(2) == 0
        names = 1 + random.below(Self.namesMax)
        devices = 2 + random.below(2)
        pageRecords = random.pick([1, 3, 200])
        count = 20 + random.below(50)
        self.random = random
    }

    mutating func steps() -> [GraphStep] {
        (0..<count).map { number in
            let isRound = random.below(4) == 0
            return GraphStep(
                number: number, device: random.below(devices), pause: random.below(3_000),
                action: isRound ? .round(plan()) : action())
        }
    }

    private mutating func plan() -> [GraphStep.Fault] {
        guard !faults.isEmpty, random.below(2) == 0 else { return [] }
        return [GraphStep.Fault](repeating: .none, count: random.below(4)) + [fault()]
    }

    private mutating func fault() -> GraphStep.Fault {
        switch random.pick(faults) {
        case .requestLost: .requestLost
        case .answerLost: .answerLost
        case .duplicated: .duplicated
        case .cutShort: .cutShort
        case .crashBefore: .crashBefore
        case .crashAfter: .crashAfter
        case .partly: .partly
        case .meanwhile: .meanwhile(edit())
        case .otherRound: .otherRound(random.below(devices))
        }
    }

    private mutating func action() -> GraphStep.Action {
        hasRestarts && random.below(20) == 0 ? .restart : edit()
    }

    private mutating func edit() -> GraphStep.Action {
        let type = random.pick(types)
        let object = name(of: type)
        switch random.pick(kinds, weight: \.weight) {
        case .title: return .title(object)
        case .kind: return .kind(name(of: "Tag"), random.pick(["a", "b"]))
        case .add: return link(object, of: type, adding: 1 + random.below(2), removing: 0)
        case .remove: return link(object, of: type, adding: 0, removing: 1 + random.below(2))
        case .replace: return link(object, of: type, adding: 1, removing: 1 + random.below(names))
        case .delete: return .delete(object)
        case .rename: return .rename(object, to: name(of: type))
        }
    }

    private mutating func link(
        _ object: String, of type: String, adding: Int, removing: Int
    ) -> GraphStep.Action {
        let relation = random.pick(GraphModel.relations(of: type))
        return .link(
            object, relationship: relation.name.description,
            adding: (0..<adding).map { _ in name(of: relation.destination) },
            removing: (0..<removing).map { _ in name(of: relation.destination) })
    }

    private mutating func name(of type: String) -> String {
        "\(GraphModel.types[type] ?? "")\(1 + random.below(names))"
    }
}
