import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree beside the model of moves.
final class ModelledMoves {
    private let fixture: TreeFixture
    /// The tree that is compared with the model: this one, or one over a copy of its store.
    private var shown: TreeFixture
    private var model = MoveModel()
    private var directories: [MovePath.Directory: NodeNumber] = [:]
    private var handles: [MoveStep.Slot: (node: NodeNumber, handle: HandleNumber)] = [:]
    private static let observer = Requester(threadID: 9)
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        shown = fixture
        fixture.observe()
        directories = try Self.find(in: fixture)
    }

    /// Makes the directories, or looks them up after a remount.
    private static func find(
        in fixture: TreeFixture
    ) throws -> [MovePath.Directory: NodeNumber] {
        var directories: [MovePath.Directory: NodeNumber] = [:]
        let places: [(MovePath.Directory, [String])] = [
            (.note, ["private", "Box", "Note"]), (.task, ["private", "Box", "Task"]),
            (.side, ["private", "Side", "Note"]), (.local, ["local", "Own", "Note"]),
            (.scratch, ["private", "Box", "Note", "d"]),
        ]
        for (directory, parts) in places {
            var node = NodeNumber.root
            for part in parts {
                node =
                    try fixture.lookup(part, in: node)?.node
                    ?? fixture.tree.makeDirectory(parent: node, name: part.b, mode: 0o755).node
            }
            directories[directory] = node
        }
        return directories
    }

    /// Takes the steps. Returns what differs after the first that differs, or nil.
    func run(_ steps: some Sequence<MoveStep>) throws -> String? {
        for step in steps {
            var next = model
            let expected = next.apply(step)
            if expected == .left { continue }
            taken += 1
            let got = try StepOutcome { try perform(step) }
            guard got == expected else { return "\(step): expected \(expected), got \(got)" }
            model = next
            if let difference = try differenceAfterCrash() {
                return "\(step): after a kill \(difference)"
            }
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
            if let difference = try difference() ?? differenceInHandles() {
                return "\(step): \(difference)"
            }
            model.noteRead()
        }
        return nil
    }

    // MARK: Calls

    private func parent(_ path: MovePath) throws -> NodeNumber {
        try #require(directories[path.directory])
    }

    private func entry(_ name: String, _ path: MovePath) throws -> NodeEntry? {
        try shown.lookup(name, in: parent(path), as: Self.observer)
    }

    /// Writes a file as a shell's `>` does, each time another program.
    private func put(_ text: String, _ name: String, _ path: MovePath) throws {
        let program = Requester(threadID: Int32(100 + taken))
        let flags = O_WRONLY | O_TRUNC
        let handle =
            if let entry = try fixture.lookup(name, in: parent(path)) {
                try fixture.tree.open(entry.node, flags: flags, caller: program).handle
            } else {
                try fixture.tree.create(
                    parent: parent(path), name: name.b, mode: 0o644, flags: flags, caller: program
                ).1.handle
            }
        defer { fixture.tree.release(handle) }
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
    }

    private func text(_ number: Int) -> String { #"{"n":\#(number)}"# }

    private func perform(_ step: MoveStep) throws {
        switch step {
        case .save(let path, let number): try put(text(number), path.name, path)
        case .open(let slot, let path, let isWriting):
            let node = try #require(try entry(path.name, path)).node
            let flags = isWriting ? O_RDWR : O_RDONLY
            let caller = Requester(threadID: Int32(20 + slot))
            handles[slot] = (
                node, try fixture.tree.open(node, flags: flags, caller: caller).handle
            )
        case .write(let slot, let number):
            let (node, handle) = try #require(handles[slot])
            var changes = NodeChanges()
            changes.size = 0
            _ = try fixture.tree.setAttributes(of: node, changes, handle: handle)
            try fixture.write(text(number), to: handle)
        case .flush(let slot): try fixture.tree.flush(#require(handles[slot]).handle)
        case .close(let slot): try close(slot)
        case .rename(let path, let other): try rename(path, other, 0)
        case .exchange(let path, let other): try rename(path, other, 2)
        case .remove(let path):
            try fixture.tree.remove(
                parent: parent(path), name: path.name.b, caller: TreeFixture.user)
        case .writePhoto(let path, let bytes): try put(bytes, path.photo, path)
        case .removePhoto(let path):
            try fixture.tree.remove(
                parent: parent(path), name: path.photo.b, caller: TreeFixture.user)
        case .remount:
            for slot in handles.keys.sorted() { try close(slot) }
            try fixture.remount()
            fixture.observe()
            directories = try Self.find(in: fixture)
        }
    }

    private func close(_ slot: MoveStep.Slot) throws {
        let handle = try #require(handles[slot]).handle
        handles[slot] = nil
        defer { fixture.tree.release(handle) }
        try fixture.tree.flush(handle)
    }

    private func rename(_ path: MovePath, _ other: MovePath, _ flags: UInt32) throws {
        try fixture.tree.rename(
            parent: parent(path), name: path.name.b, newParent: parent(other),
            newName: other.name.b, flags: flags, caller: Requester(threadID: 30))
    }

    // MARK: What is shown

    /// In each seventh step a kill comes before the grace time is over.
    private func differenceAfterCrash() throws -> String? {
        guard taken % 7 == 0, !model.handles.values.contains(where: \.isDirty) else { return nil }
        let (before, known) = (shown, directories)
        defer { (shown, directories) = (before, known) }
        shown = try TreeFixture(after: fixture)
        shown.observe()
        try shown.tree.start()
        directories = try Self.find(in: shown)
        shown.clock.advance(.seconds(4))
        try shown.maintain()
        return try difference()
    }

    private func difference() throws -> String? {
        for (directory, node) in directories {
            var expected = directory == .note ? ["d"] : []
            for (path, file) in model.files where path.directory == directory {
                expected.append(path.name)
                if path.isRecord, file.photo != nil { expected.append(path.photo) }
            }
            let names = try shown.names(in: node)
            guard names == expected.sorted() else {
                return "\(directory) lists \(names), not \(expected.sorted())"
            }
        }
        for (path, file) in model.files {
            if let difference = try difference(path, file) { return "\(path) \(difference)" }
        }
        return nil
    }

    private func differenceInHandles() throws -> String? {
        for slot in handles.keys {
            let handle = try #require(handles[slot]).handle
            let json = try JSONParser.parse(fixture.read(handle).b)
            guard let number = model.number(slot), json["n"] == JSONValue(Int64(number)) else {
                return "handle \(slot) reads \(json), not \(model.number(slot) ?? -1)"
            }
        }
        return nil
    }

    private func read(_ name: String, _ path: MovePath) throws -> String {
        let node = try #require(try entry(name, path)).node
        let handle = try shown.tree.open(node, flags: O_RDONLY, caller: Self.observer).handle
        defer { shown.tree.release(handle) }
        return try shown.read(handle)
    }

    private func difference(_ path: MovePath, _ file: MoveModel.File) throws -> String? {
        let text = try read(path.name, path)
        let json = try JSONParser.parse(text.b)
        let size = try entry(path.name, path)?.attributes.size
        guard json["n"] == JSONValue(Int64(file.number)), size == Int64(text.utf8.count) else {
            return "reads \(text) of size \(size ?? -1), not \(file.number)"
        }
        let reference = json["photo"]
        guard let photo = file.photo else {
            return reference ?? .null == .null ? nil : "has a photo: \(text)"
        }
        guard reference?["size"]?.int64 == Int64(photo.utf8.count) else {
            return "does not refer to \(photo): \(text)"
        }
        guard path.isRecord else { return nil }
        let bytes = try read(path.photo, path)
        guard bytes == photo else { return "has a photo that reads \(bytes), not \(photo)" }
        return reference?["$asset"]?.string?.string == path.photo ? nil : "has the text \(text)"
    }

    func finish() throws -> [String] {
        for slot in handles.keys.sorted() { try close(slot) }
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }
}
