import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree beside the model of its open files.
final class ModelledOpenFiles {
    private let fixture: TreeFixture
    private var model = OpenFileModel()
    private var handles: [OpenFileStep.Slot: (node: NodeNumber, handle: HandleNumber)] = [:]
    private static let observer = Requester(threadID: 9)
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    /// Takes the steps. Returns what differs after the first that differs, or nil.
    func run(_ steps: some Sequence<OpenFileStep>) throws -> String? {
        for step in steps {
            var next = model
            let expected = next.apply(step)
            if expected == .left { continue }
            taken += 1
            let got = try StepOutcome { try perform(step) }
            guard got == expected else { return "\(step): expected \(expected), got \(got)" }
            model = next
            if let difference = try difference() ?? differenceInHandles() {
                return "\(step): \(difference)"
            }
            if case .pass(let seconds) = step, seconds > 3, let difference = try textDifference() {
                return "\(step): \(difference)"
            }
            fixture.clock.advance(.milliseconds(1))
        }
        return nil
    }

    // MARK: Calls

    private func field(_ record: String) -> String { OpenFileStep.field(of: record) }
    private func file(_ record: String) -> String { "\(record).json" }

    private func pass(_ seconds: Int) throws {
        fixture.clock.advance(.seconds(seconds))
        try fixture.maintain()
    }

    private func open(_ slot: Int, _ name: String, _ isWriting: Bool) throws {
        let node = try #require(try fixture.lookup(name)).node
        let opened = try fixture.tree.open(
            node, flags: isWriting ? O_RDWR : O_RDONLY, caller: Requester(threadID: 20))
        handles[slot] = (node, opened.handle)
    }

    private func close(_ slot: Int) throws {
        let handle = try #require(handles[slot]).handle
        handles[slot] = nil
        defer { fixture.tree.release(handle) }
        try fixture.tree.flush(handle)
    }

    private func perform(_ step: OpenFileStep) throws {
        switch step {
        case .put(let name, let text): try fixture.put(text, as: name)
        case .open(let slot, let name, let isWriting): try open(slot, name, isWriting)
        case .write(let slot, let text, let offset):
            try fixture.write(text, to: #require(handles[slot]).handle, at: Int64(offset))
        case .truncate(let slot, let size):
            let (node, handle) = try #require(handles[slot])
            var changes = NodeChanges()
            changes.size = Int64(size)
            _ = try fixture.tree.setAttributes(of: node, changes, handle: handle)
        case .flush(let slot): try fixture.tree.flush(#require(handles[slot]).handle)
        case .close(let slot): try close(slot)
        case .rename(let name, let other): try fixture.rename(name, to: other)
        case .exchange(let name, let other): try fixture.rename(name, to: other, flags: 2)
        case .link(let name, let other):
            let node = try #require(try fixture.lookup(name)).node
            _ = try fixture.tree.link(node, newParent: fixture.notes, newName: other.b)
        case .remove(let name): try fixture.remove(name)
        case .save, .removeRecord, .renameRecord, .exchangeRecords:
            try pass(4)
            try performOnRecords(step)
            try pass(4)
        case .pass(let seconds): try pass(seconds)
        case .remount:
            for slot in handles.keys.sorted() { try close(slot) }
            try fixture.remount()
            fixture.observe()
        }
    }

    private func performOnRecords(_ step: OpenFileStep) throws {
        switch step {
        case .save(let name): try fixture.put("{\"n\":\(taken)}", as: file(name))
        case .removeRecord(let name): try fixture.remove(file(name))
        case .renameRecord(let name, let other): try fixture.rename(file(name), to: file(other))
        case .exchangeRecords: try fixture.rename(file("a"), to: file("b"), flags: 2)
        default: return
        }
    }

    // MARK: What is shown

    private func difference() throws -> String? {
        let expected = (model.records.map(file) + model.names.keys).sorted()
        let names = try fixture.names()
        guard names == expected else { return "lists \(names), not \(expected)" }
        for (name, id) in model.names {
            let bytes = String(decoding: model.files[id] ?? [], as: UTF8.self)
            let text = try fixture.text(name, by: Self.observer)
            let size = try fixture.lookup(name)?.attributes.size
            guard text == bytes, size == Int64(bytes.utf8.count) else {
                return "\(name) reads \(text.debugDescription) of size \(size ?? -1), not "
                    + bytes.debugDescription
            }
        }
        return nil
    }

    private func differenceInHandles() throws -> String? {
        for (slot, handle) in model.handles {
            let bytes = String(decoding: model.files[handle.file] ?? [], as: UTF8.self)
            let (node, opened) = try #require(handles[slot])
            let text = try fixture.read(opened)
            var size: Int64?
            // The kernel asks for the size without the handle.
            _ = try code { size = try fixture.tree.attributes(of: node, handle: nil).0.size }
            guard text == bytes, size == Int64(bytes.utf8.count) else {
                return "handle \(slot) reads \(text.debugDescription) of size \(size ?? -1), not "
                    + bytes.debugDescription
            }
        }
        return nil
    }

    /// Returns the record whose text does not refer to the file of its field. The text is behind a
    /// file that is being written.
    private func textDifference() throws -> String? {
        for record in model.records {
            let text = try #require(try fixture.text(file(record), by: Self.observer))
            let photo = try JSONParser.parse(text.b)["photo"]
            guard let id = model.names[field(record)] else {
                if photo ?? .null == .null { continue }
                return "\(record) has a photo: \(text)"
            }
            if model.isWritten(id) { continue }
            guard photo?["size"]?.int64 == Int64(model.files[id]?.count ?? 0) else {
                return "\(record) does not refer to its photo: \(text)"
            }
        }
        return nil
    }

    func finish() throws -> [String] {
        for slot in handles.keys.sorted() { try close(slot) }
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }
}
