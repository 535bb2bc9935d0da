import Glibc
import RecordModel
import RecordTree
import TestSupport
import Testing

/// Drives a tree with calls that the kernel would make, would make only when it is broken, or that
/// no kernel makes: numbers from the ends of their range, any name, nodes and handles that are not.
///
/// A trap ends the test process; the seed that was printed last repeats it.
final class TreeFuzzer {
    static let limits: RecordLimits = {
        var limits = RecordLimits()
        limits.textBytes = 65_536
        limits.recordBytes = 32_768
        limits.shownValueBytes = 1024
        return limits
    }()

    let fixture: TreeFixture
    let isTraced: Bool
    var random: SeededRandom
    var directories: [NodeNumber]
    var nodes: [NodeNumber]
    var handles: [HandleNumber] = []
    var waits: [Waiting] = []
    /// How many calls were answered with a value: a run where all fail tests nothing.
    private(set) var successes = 0

    var tree: Tree { fixture.tree }

    init(seed: UInt64, isTraced: Bool = false) throws {
        fixture = try TreeFixture(limits: Self.limits)
        fixture.observe()
        self.isTraced = isTraced
        random = SeededRandom(seed: seed)
        directories = [.root, fixture.notes]
        nodes = directories
    }

    func run(steps: Int) throws {
        for step in 0..<steps { try take(step) }
        for handle in handles { tree.release(handle) }
        handles = []
    }

    private func take(_ step: Int) throws {
        let operation = random.pick(Operation.allCases)
        if isTraced { print("step \(step): \(operation)") }
        do throws(RecordError) {
            try perform(operation)
            successes += 1
        } catch {
            if isTraced { print("step \(step): \(error.code): \(error)") }
            check(error, at: step)
        }
        // What a run keeps open is bounded, as by the limit of descriptors.
        if handles.count > 40 { tree.release(handles.removeFirst()) }
        if nodes.count > 60 { nodes.removeFirst(20) }
        if directories.count > 20 { directories.remove(at: 2 + random.below(18)) }
        if waits.count > 4 { waits.removeFirst().giveUp() }
    }

    /// A caller may be at fault, never the store or the disk.
    private func check(_ error: RecordError, at step: Int) {
        switch error.code {
        case .corrupt, .ioFailure, .storeLocked, .storeTooNew, .noSpace:
            Issue.record("step \(step): \(error.code): \(error)")
        default: break
        }
    }

    /// A step in words, when its run is repeated to be looked at.
    func note(_ words: @autoclosure () -> String) {
        if isTraced { print("    \(words())") }
    }

    // MARK: What a call is about

    func directory() -> NodeNumber {
        switch random.below(20) {
        case 0: anyNode()
        case 1..<12: fixture.notes
        default: random.pick(directories)
        }
    }

    func anyNode() -> NodeNumber {
        guard random.chance(4) else { return random.pick(nodes) }
        let kind = UInt64(random.below(16))
        let row = UInt64(bitPattern: random.number()) & 0xffff_ffff_ffff
        return NodeNumber(rawValue: random.chance(3) ? random.next() : kind << 56 | row)
    }

    func handle() -> HandleNumber {
        guard random.chance(10), let known = handles.randomElement(using: &random) else {
            return handles.isEmpty
                ? HandleNumber(rawValue: random.next()) : handles[random.below(handles.count)]
        }
        return random.chance(2) ? known : HandleNumber(rawValue: random.next())
    }

    func caller() -> Requester { random.chance(30) ? TreeFixture.daemon : TreeFixture.user }

    func found(_ entry: NodeEntry) {
        nodes.append(entry.node)
        if entry.attributes.mode & UInt32(S_IFMT) == UInt32(S_IFDIR) {
            directories.append(entry.node)
        }
        checkSize(entry.attributes)
    }

    /// No text of a record grows over its limit, and no size is one that `stat` cannot show.
    func checkSize(_ attributes: Attributes) {
        #expect(attributes.size >= 0)
        #expect(attributes.blocks >= 0)
    }

    func opened(_ opened: Opened) { handles.append(opened.handle) }
}
