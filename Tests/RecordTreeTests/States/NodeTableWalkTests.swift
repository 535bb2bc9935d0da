import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import RecordTree

/// The numbers of nodes beside what a kernel holds of them.
@Suite("Node numbers beside what the kernel holds")
struct NodeTableWalkTests {
    /// The lookups of a number that the kernel holds, and the node that it names.
    private struct Held {
        var count: UInt64
        var node: Node
        /// Indicates that the thing has lost the number.
        var isTaken = false
    }

    private var table = NodeTable()
    private var held: [NodeNumber: Held] = [:]
    private var random = SeededRandom(seed: 0)

    private static let nodes: [Node] =
        (1...4).map { .scratch(ScratchID(rawValue: $0)) }
        + (1...3).map { .asset(AssetID(Int64($0))) }
        + (1...2).map { .zone(ZoneID(Int64($0))) }
        + [.owner(OwnerName("olga")), .share(.zone(ZoneID(1))), .control(.conflict(1))]
        + (1...2).map { .record(RecordFile(record: RecordID(Int64($0)), incarnation: 0)) }

    private mutating func step() -> String {
        let node = random.pick(Self.nodes)
        switch random.below(9) {
        case 0..<4:
            let number = table.lookUp(node)
            held[number, default: Held(count: 0, node: node)].count += 1
            held[number]?.node = node
            return "lookUp \(node) is \(number)"
        case 4:
            let number = table.reserve(node)
            // The kernel takes the listed name, or not.
            guard random.below(2) == 0, table.node(number) == node else { return "list \(node)" }
            _ = table.lookUp(node)
            held[number, default: Held(count: 0, node: node)].count += 1
            held[number]?.node = node
            return "list and take \(node)"
        case 5:
            let all = held.sorted { $0.key.rawValue < $1.key.rawValue }
            guard !all.isEmpty else { return "nothing" }
            let (number, it) = random.pick(all)
            // A part of the lookups only where each was counted.
            let isCounted = number.kind == .counted
            let count = isCounted ? UInt64(random.below(Int(it.count))) + 1 : it.count
            _ = table.forget(number, count: count)
            held[number]?.count -= count
            if held[number]?.count == 0 { held[number] = nil }
            return "forget \(number) \(count)"
        case 6:
            // The kernel has moved the dentry of a number to another thing.
            let numbers = held.filter { table.node($0.key) == $0.value.node }.keys
                // A record has another incarnation when another thing has its number.
                .filter { $0.kind != .record }.sorted { $0.rawValue < $1.rawValue }
            guard !numbers.isEmpty else { return "nothing" }
            let number = random.pick(numbers)
            table.rebind(number, to: node)
            held[number]?.node = node
            held[number]?.isTaken = false
            return "rebind \(number) to \(node)"
        case 7:
            if case .record = node { return "nothing" }
            table.retire(node)
            return "retire \(node)"
        default:
            if case .record = node { return "nothing" }
            if let number = table.disown(node) { held[number]?.isTaken = true }
            return "disown \(node)"
        }
    }

    @Test("a number that the kernel holds names one thing, or nothing any more", arguments: 1...60)
    func walk(seed: Int) {
        var walk = NodeTableWalkTests()
        walk.random = SeededRandom(seed: UInt64(seed))
        var steps: [String] = []
        for _ in 0..<300 {
            steps.append(walk.step())
            if let problem = walk.problem {
                Issue.record("\(problem) after\n\(steps.suffix(20).joined(separator: "\n"))")
                return
            }
        }
        // When the kernel has dropped everything, nothing is kept but what is listed only.
        for (number, it) in walk.held { _ = walk.table.forget(number, count: it.count) }
        for number in walk.held.keys where number.kind == .counted {
            #expect(walk.table.node(number) == nil)
        }
        #expect(walk.table.violations == [])
    }

    private var problem: String? {
        if let broken = table.violations.first { return broken }
        for (number, it) in held {
            if number.kind == .counted, !it.isTaken, table.node(number) == nil {
                return "\(number) names nothing, and the kernel holds it for \(it.node)"
            }
            if let node = table.node(number), node != it.node {
                return "\(number) names \(node), and the kernel holds it for \(it.node)"
            }
        }
        for node in Self.nodes {
            guard let number = table.number(of: node) else { continue }
            guard table.node(number) == node else { return "\(number) of \(node) leads elsewhere" }
            if let it = held[number], it.node != node {
                return "\(node) answers to \(number), which the kernel holds for \(it.node)"
            }
        }
        return nil
    }

    @Test("a thing that comes again under a retired name has another number each time")
    func retired() {
        var table = NodeTable()
        for node in Self.nodes {
            if case .record = node { continue }
            var seen: Set<NodeNumber> = []
            for _ in 0..<5 {
                let number = table.lookUp(node)
                #expect(seen.insert(number).inserted, "\(node)")
                table.retire(node)
            }
        }
    }
}
