import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree beside the model of what the readers of its files see.
final class ModelledVersions {
    private let fixture: TreeFixture
    private var model = VersionModel()
    private var handles: [VersionStep.Slot: HandleNumber] = [:]
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    /// Takes the steps. Returns what differs after the first that differs, or nil.
    func run(_ steps: some Sequence<VersionStep>) throws -> String? {
        for step in steps {
            var next = model
            guard next.apply(step) else { continue }
            taken += 1
            do {
                try perform(step)
            } catch let error as RecordError {
                return "\(step): \(error.code): \(error)"
            }
            model = next
            if let difference = try difference() { return "\(step): \(difference)" }
            fixture.clock.advance(.milliseconds(1))
        }
        return nil
    }

    func finish() throws -> [String] {
        for handle in handles.values { fixture.tree.release(handle) }
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }

    /// Each step is of another program, which has read nothing before: no save merges.
    private var program: Requester { Requester(threadID: Int32(100 + taken)) }

    private func text(_ number: Int) -> String { "{\"n\":\(number)}" }
    private func file(_ name: String) -> String { "\(name).json" }

    // MARK: Steps

    private func perform(_ step: VersionStep) throws {
        switch step {
        case .open(let slot, let name):
            let entry = try #require(try fixture.lookup(file(name)))
            handles[slot] =
                try fixture.tree.open(
                    entry.node, flags: O_RDONLY, caller: Requester(threadID: Int32(10 + slot))
                ).handle
        case .close(let slot):
            if let handle = handles.removeValue(forKey: slot) { fixture.tree.release(handle) }
        case .put(let name, let number): try fixture.put(text(number), as: file(name), by: program)
        case .replace(let name, let number):
            try fixture.put(text(number), as: "new", by: program)
            try fixture.rename("new", to: file(name), by: program)
        case .rename(let name, let other):
            try fixture.rename(file(name), to: file(other), by: program)
        case .remove(let name): try fixture.remove(file(name))
        case .receive(let name, let number):
            try settle()
            let field = RecordField(name: FieldName("n"), value: .int64(Int64(number)))
            try fixture.receive(.upsert([field], parent: nil), name: name)
        case .deleteThere(let name):
            try settle()
            try fixture.receive(.delete, name: name)
        case .save(let name, let number):
            let type = try fixture.note.id
            let bytes = text(number).b
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.records.save(text: bytes, type: type, stem: Stem(name))
            }
        case .delete(let name):
            let record = try #require(try fixture.record(name)).id
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                try transaction.records.beginDelete(record)
                try transaction.records.finalizeDelete(record)
            }
        case .pass: try settle()
        }
    }

    /// Lets removals become final, and the server have everything.
    private func settle() throws {
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        // A deletion may wait for what replaces the record.
        for _ in 0..<3 { try fixture.send() }
    }

    // MARK: What is shown

    private func difference() throws -> String? {
        let names = try fixture.names()
        let expected = model.names.keys.sorted().map(file)
        guard names == expected else { return "lists \(names), not \(expected)" }
        for (name, id) in model.names.sorted(by: { $0.key < $1.key }) {
            let read = try fixture.text(file(name), by: Requester(threadID: 9))
            guard isText(read, of: id) else { return "\(name) reads \(read ?? "nothing")" }
        }
        for (slot, handle) in handles.sorted(by: { $0.key < $1.key }) {
            guard let id = model.readers[slot] else { return "no reader \(slot)" }
            let read = try fixture.read(handle)
            guard isText(read, of: id) else {
                return "reader \(slot) reads \(read), not \(model.files[id]?.number ?? -1)"
            }
        }
        return nil
    }

    private func isText(_ text: String?, of file: Int) -> Bool {
        guard let expected = model.files[file] else { return false }
        let printed = "{\n  \"n\": \(expected.number)\n}\n"
        return text == (expected.isPrinted ? printed : self.text(expected.number))
    }
}
