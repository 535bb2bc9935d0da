import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import TestSupport
import Testing

/// A tree beside a kernel that answers from its memory wherever it may.
final class KernelWalk {
    let fixture: TreeFixture
    var held = HeldNames()
    /// The directory of the zone Box.
    let zone: NodeNumber
    private(set) var taken = 0
    private var opened: [(handle: HandleNumber, node: NodeNumber)] = []
    private let touches = Touches()
    /// Indicates whether the daemon touches what changes elsewhere, as for a program that watches.
    private let isWatched: Bool

    /// The touches that the tree has asked for.
    private final class Touches: Sendable {
        private let list = Mutex<[Touch]>([])
        func add(_ touches: [Touch]) { list.withLock { $0 += touches } }
        func take() -> [Touch] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    init(isWatched: Bool) throws {
        self.isWatched = isWatched
        fixture = try TreeFixture()
        zone = try #require(try fixture.find("private/Box")).node
        let (tree, touches) = (fixture.tree, touches)
        fixture.store.observe { touches.add(tree.storeChanged($0)) }
    }

    /// Takes the steps. Returns what the kernel remembers wrongly after the first such step.
    func run(_ steps: some Sequence<KernelStep>) throws -> String? {
        for step in steps {
            if let difference = try take(step, { try perform(step) }) { return difference }
        }
        return nil
    }

    /// Takes one step. Returns what the kernel remembers wrongly after it.
    func take(_ step: some Any, _ perform: () throws -> Void) throws -> String? {
        let outcome = try StepOutcome(of: perform)
        if outcome == .done { taken += 1 }
        receiveNotices()
        if isWatched { touch() }
        for (node, count) in held.takeUnused() { fixture.tree.forget(node, count: count) }
        fixture.clock.advance(.milliseconds(1))
        return try difference().map { "\(step) (\(outcome)): \($0)" }
    }

    func finish() throws -> [String] {
        closeAll()
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }

    private func receiveNotices() {
        for notice in fixture.notices.take() { held.receive(notice) }
    }

    /// Makes the daemon's own calls, which make the kernel raise events.
    private func touch() {
        for touch in touches.take() where fixture.tree.prepare(touch) {
            let name = HeldNames.Name(
                parent: touch.directory, name: String(decoding: touch.name, as: UTF8.self))
            _ = try? performOwn(touch, name)
            fixture.tree.finish(touch)
            receiveNotices()
        }
    }

    private func performOwn(_ touch: Touch, _ name: HeldNames.Name) throws {
        let (tree, caller) = (fixture.tree, TreeFixture.daemon)
        let node = try find(name, by: caller)
        switch touch.kind {
        case .created where node == nil:
            let (entry, opened) = try tree.create(
                parent: name.parent, name: name.name.b, mode: 0o644, flags: O_WRONLY | O_EXCL,
                caller: caller)
            note(entry, name)
            held.dropContent(of: name.parent)
            tree.release(opened.handle)
        case .changed:
            guard let node else { return }
            tree.release(try tree.open(node, flags: O_WRONLY, caller: caller).handle)
        case .deleted where node != nil:
            try tree.remove(parent: name.parent, name: name.name.b, caller: caller)
            held.drop(name)
            held.dropContent(of: name.parent)
        default: return
        }
    }

    // MARK: Questions of the kernel

    func note(_ entry: NodeEntry, _ name: HeldNames.Name) {
        held.count(entry.node)
        held.keep(entry, name)
    }

    /// Finds a name as the kernel does: from its memory, or with a lookup.
    func find(_ name: HeldNames.Name, by caller: Requester = TreeFixture.user) throws
        -> NodeNumber?
    {
        switch held.names[name] {
        case .node(let node): return node
        case .absent: return nil
        case nil: break
        }
        let bytes = name.name.b
        if let entry = try fixture.tree.lookup(parent: name.parent, name: bytes, caller: caller) {
            note(entry, name)
            return entry.node
        }
        if fixture.tree.canCacheAbsence(parent: name.parent, name: bytes, caller: caller) {
            held.keepAbsence(name)
        }
        return nil
    }

    func directory(_ type: String) throws -> NodeNumber? {
        try find(HeldNames.Name(parent: zone, name: type))
    }

    /// The name in the directory of its type, or nil when that is not there.
    func name(_ place: KernelStep.Place) throws -> HeldNames.Name? {
        try directory(place.type).map { HeldNames.Name(parent: $0, name: place.name) }
    }

    func list(_ directory: NodeNumber) throws {
        guard held.listings[directory] == nil else { return }
        let tree = fixture.tree
        let opened = try tree.openDirectory(directory)
        defer { tree.release(opened.handle) }
        var listed: [ListedEntry] = []
        try tree.list(opened.handle, from: 0) { entry in
            tree.didList(entry.entry)
            listed.append(entry)
            return true
        }
        let names = listed.map { String(decoding: $0.name, as: UTF8.self) }
        for (entry, name) in zip(listed, names) {
            note(entry.entry, HeldNames.Name(parent: directory, name: name))
        }
        if opened.keepCache { held.keep(Set(names), of: directory) }
    }

    func getAttributes(_ node: NodeNumber) throws {
        guard held.attributes[node] == nil else { return }
        let (shown, isCacheable) = try fixture.tree.attributes(of: node, handle: nil)
        if isCacheable { held.keep(shown, of: node) }
    }

    /// Reads a file as the kernel does: from its pages, where the open lets it keep them.
    private func bytes(_ node: NodeNumber) throws -> (bytes: [UInt8], isKept: Bool)? {
        let reader = Requester(threadID: 9)
        let opened = try fixture.tree.open(node, flags: O_RDONLY, caller: reader)
        defer { fixture.tree.release(opened.handle) }
        if case .deferred = try fixture.tree.read(opened.handle, offset: 0, count: 1) {
            return nil
        }
        return (try fixture.read(opened.handle).b, opened.keepCache && !opened.isDirect)
    }

    func read(_ node: NodeNumber) throws {
        let isFile =
            try fixture.tree.attributes(of: node, handle: nil).0.mode & UInt32(S_IFMT)
            == UInt32(S_IFREG)
        guard isFile, held.pages[node] == nil, let read = try bytes(node), read.isKept else {
            return
        }
        held.keep(read.bytes, of: node)
    }

    // MARK: Open files

    func hold(_ node: NodeNumber) throws {
        let flags = opened.count % 2 == 0 ? O_RDONLY : O_RDWR
        let handle = try fixture.tree.open(node, flags: flags, caller: TreeFixture.user).handle
        opened.append((handle, node))
        held.opened[node, default: 0] += 1
    }

    func closeAll() {
        for (handle, _) in opened { fixture.tree.release(handle) }
        (opened, held.opened) = ([], [:])
    }

    // MARK: What is remembered

    /// Returns what the kernel remembers otherwise than a question would be answered now.
    private func difference() throws -> String? {
        for (name, meaning) in held.names.sorted(by: { $0.key.name < $1.key.name }) {
            let now = try freshMeaning(name)
            guard now == meaning else { return "\(name.name) is held as \(meaning), is \(now)" }
        }
        for (node, shown) in held.attributes {
            var now: HeldNames.Shown?
            _ = try code { now = .init(try fixture.tree.attributes(of: node, handle: nil).0) }
            guard now == shown else {
                return "\(words(node)) is held as \(shown), is \(now.map { "\($0)" } ?? "stale")"
            }
        }
        for (node, held) in held.pages {
            let now = try bytes(node)?.bytes
            guard now == held else { return "\(words(node)) is held with other bytes" }
        }
        for (directory, names) in held.listings {
            let difference = Set(try fixture.names(in: directory)).symmetricDifference(names)
            guard difference.isEmpty else {
                return
                    "\(words(directory)) is held with a listing that differs in \(difference.sorted())"
            }
        }
        return nil
    }

    private func freshMeaning(_ name: HeldNames.Name) throws -> HeldNames.Meaning {
        var entry: NodeEntry?
        _ = try code {
            entry = try fixture.tree.lookup(
                parent: name.parent, name: name.name.b, caller: TreeFixture.user)
        }
        guard let entry else { return .absent }
        // The answer is unused.
        fixture.tree.forget(entry.node, count: 1)
        return .node(entry.node)
    }

    private func words(_ node: NodeNumber) -> String {
        let name = held.names.first { $0.value == .node(node) }?.key.name
        return name ?? "\(node)"
    }
}
