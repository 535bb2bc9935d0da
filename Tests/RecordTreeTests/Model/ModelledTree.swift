import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree beside its model: both take each step, and then the tree must show what the model says.
final class ModelledTree {
    private let fixture: TreeFixture
    private var model = TreeModel()
    private var handles: [TreeStep.Slot: HandleNumber] = [:]
    private var nodes: [TreeStep.Slot: NodeNumber] = [:]
    /// A program that only looks, so that it is none of those that write.
    private static let observer = Requester(threadID: 9)
    private static let (noReplace, exchange): (UInt32, UInt32) = (1, 2)

    /// How many steps the tree took.
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    /// Takes the steps. Returns what differs after the first that differs, or nil.
    func run(_ steps: some Sequence<TreeStep>) throws -> String? {
        for step in steps {
            if let difference = try take(step) { return "\(step): \(difference)" }
        }
        return nil
    }

    private func take(_ step: TreeStep) throws -> String? {
        var next = model
        let expected = next.apply(step)
        if expected == .left { return nil }
        taken += 1
        let got = try StepOutcome { try perform(step) }
        guard got == expected else { return "expected \(expected), got \(got)" }
        model = next
        return try step == .crash ? differenceAfterCrash() : difference()
    }

    // MARK: Calls

    private func place(_ path: String) throws -> (parent: NodeNumber, name: String) {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count > 1 else { return (fixture.notes, path) }
        return (try #require(try fixture.lookup(parts[0])).node, parts[1])
    }

    private func entry(_ path: String) throws -> NodeEntry? {
        let (parent, name) = try place(path)
        return try fixture.lookup(name, in: parent, as: Self.observer)
    }

    private func perform(_ step: TreeStep) throws {
        switch step {
        case .open(
            let slot, let path, let isWriting, let isTruncating, let isExclusive, let isBlind):
            var flags = isWriting ? O_RDWR : O_RDONLY
            if isWriting, isTruncating { flags |= O_TRUNC }
            if isExclusive { flags |= O_EXCL }
            (nodes[slot], handles[slot]) = try open(path, flags, isBlind: isBlind)
        case .write(let slot, let text, let offset):
            let handle = try handle(slot)
            let end = try fixture.read(handle).utf8.count
            try fixture.write(text, to: handle, at: Int64(offset ?? end))
        case .flush(let slot): try fixture.tree.flush(handle(slot))
        case .synchronize(let slot):
            try fixture.tree.synchronize(handle(slot), dataOnly: false)
        case .close(let slot): try close(slot)
        case .truncate(let path, let size):
            try resize(#require(try entry(path)).node, size, nil)
        case .truncateOpen(let slot, let size):
            try resize(#require(nodes[slot]), size, handle(slot))
        case .passGrace:
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
        case .remount:
            try closeAll()
            try fixture.remount()
            fixture.observe()
        case .crash: break
        default: try performOnNames(step)
        }
    }

    private func performOnNames(_ step: TreeStep) throws {
        let tree = fixture.tree
        switch step {
        case .rename(let from, let to): try rename(from, to, flags: 0)
        case .renameNoReplace(let from, let to): try rename(from, to, flags: Self.noReplace)
        case .exchange(let from, let to): try rename(from, to, flags: Self.exchange)
        case .remove(let path):
            let (parent, name) = try place(path)
            try tree.remove(parent: parent, name: name.b, caller: TreeFixture.user)
        case .link(let path, let to):
            let (parent, name) = try place(to)
            _ = try tree.link(
                #require(try entry(path)).node, newParent: parent, newName: name.b)
        case .makeDirectory(let path):
            _ = try tree.makeDirectory(parent: fixture.notes, name: path.b, mode: 0o755)
        case .removeDirectory(let path):
            try tree.removeDirectory(parent: fixture.notes, name: path.b)
        default: break
        }
    }

    private func handle(_ slot: TreeStep.Slot) throws -> HandleNumber {
        try #require(handles[slot])
    }

    private func open(
        _ path: String, _ flags: Int32, isBlind: Bool
    ) throws -> (NodeNumber, HandleNumber) {
        let (parent, name) = try place(path)
        let caller = TreeFixture.user
        if flags & O_EXCL == 0, !isBlind, let entry = try fixture.lookup(name, in: parent) {
            return (
                entry.node,
                try fixture.tree.open(entry.node, flags: flags, caller: caller).handle
            )
        }
        let (entry, opened) = try fixture.tree.create(
            parent: parent, name: name.b, mode: 0o644, flags: flags, caller: caller)
        return (entry.node, opened.handle)
    }

    private func close(_ slot: TreeStep.Slot) throws {
        let handle = try handle(slot)
        handles[slot] = nil
        defer { fixture.tree.release(handle) }
        try fixture.tree.flush(handle)
    }

    private func closeAll() throws {
        // A refused text is a draft then, as the model says.
        for slot in handles.keys.sorted() { _ = try code { try close(slot) } }
    }

    private func resize(_ node: NodeNumber, _ size: Int, _ handle: HandleNumber?) throws {
        var changes = NodeChanges()
        changes.size = Int64(size)
        _ = try fixture.tree.setAttributes(of: node, changes, handle: handle)
    }

    private func rename(_ from: String, _ to: String, flags: UInt32) throws {
        let (source, target) = (try place(from), try place(to))
        try fixture.tree.rename(
            parent: source.parent, name: source.name.b, newParent: target.parent,
            newName: target.name.b, flags: flags, caller: TreeFixture.user)
    }

    // MARK: What is shown

    private func difference() throws -> String? {
        var names = try fixture.names()
        let hasErrors = names.contains(".error")
        names.removeAll { $0 == ".error" }
        for directory in names where model.entries[directory] == .directory {
            let node = try #require(try fixture.lookup(directory)).node
            names += try fixture.names(in: node).map { "\(directory)/\($0)" }
        }
        let expected = model.entries.keys.sorted()
        guard names.sorted() == expected else { return "lists \(names), not \(expected)" }
        let isTold = model.drafts.isEmpty && !model.told.isEmpty
        guard isTold || hasErrors == !model.drafts.isEmpty else {
            return "\(hasErrors ? "has" : "lacks") .error; drafts: \(model.drafts)"
        }
        for path in expected {
            if let difference = try difference(at: path) { return "\(path) \(difference)" }
        }
        for (slot, handle) in handles.sorted(by: { $0.key < $1.key }) {
            guard let id = model.handles[slot]?.file else { return "no handle \(slot)" }
            let (text, expected) = (try fixture.read(handle), words(model.files[id]?.text))
            guard text == expected else { return "handle \(slot) reads \(text), not \(expected)" }
        }
        return nil
    }

    private func difference(at path: String) throws -> String? {
        guard let entry = try entry(path) else { return "is listed and not found" }
        let isDirectory = entry.attributes.mode & UInt32(S_IFMT) == UInt32(S_IFDIR)
        guard isDirectory == (model.entries[path] == .directory) else { return "is another kind" }
        guard let id = model.file(at: path), let file = model.files[id] else { return nil }
        let handle = try fixture.tree.open(entry.node, flags: O_RDONLY, caller: Self.observer)
            .handle
        defer { fixture.tree.release(handle) }
        let (text, expected) = (try fixture.read(handle), words(file.text))
        guard text == expected else { return "reads \(text), not \(expected)" }
        let size = entry.attributes.size
        guard size == file.text.count else { return "has size \(size), not \(file.text.count)" }
        let links = entry.attributes.links
        guard links == model.paths(of: id).count else { return "has \(links) links" }
        return TreeModel.isRecord(path) ? try recordDifference(path, file, entry.node) : nil
    }

    private func recordDifference(
        _ path: String, _ file: TreeModel.File, _ node: NodeNumber
    ) throws -> String? {
        guard !file.isDirty else { return nil }
        let state = words(try fixture.tree.attribute("user.recordfs.state".b, of: node))
        guard (state == "draft") == model.drafts.contains(path) else { return "is \(state)" }
        guard let expected = model.saved[path] else { return nil }
        let record = try #require(try fixture.record(String(path.dropLast(5))))
        let saved = words(try fixture.store.savedText(of: record.id))
        return saved == words(expected) ? nil : "is saved as \(saved), not \(words(expected))"
    }

    /// Compares the state after a kill: saved texts are there, and removed files are not. It says
    /// nothing of a text that waits for its save.
    private func differenceAfterCrash() throws -> String? {
        let copy = try TreeFixture(after: fixture)
        let names = try copy.names().filter { $0 != ".error" }
        for name in names where model.entries[name] == nil { return "\(name) is back" }
        for (name, entry) in model.entries where !name.contains("/") {
            let file = model.file(at: name).flatMap { model.files[$0] }
            if TreeModel.isRecord(name), file?.isDirty == true { continue }
            guard names.contains(name) else { return "\(name) is gone" }
            guard entry != .directory else { continue }
            let text = try copy.text(name)
            guard text == words(file?.text) else { return "\(name) reads \(text ?? "-")" }
        }
        return nil
    }

    private func words(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    func finish() throws -> [String] {
        try closeAll()
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }
}
