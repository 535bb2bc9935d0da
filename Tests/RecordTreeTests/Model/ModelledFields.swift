import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree beside the model of its large fields.
final class ModelledFields {
    private let fixture: TreeFixture
    private var model = FieldModel()
    private static let observer = Requester(threadID: 9)
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    /// Takes the steps. Returns what differs after the first that differs, or nil.
    func run(_ steps: some Sequence<FieldStep>) throws -> String? {
        for step in steps {
            var next = model
            guard next.apply(step) else { continue }
            taken += 1
            do {
                try perform(step)
                fixture.clock.advance(.seconds(4))
                try fixture.maintain()
            } catch let error as RecordError {
                return "\(step): \(error.code): \(error)"
            }
            model = next
            if let difference = try difference() { return "\(step): \(difference)" }
        }
        return nil
    }

    /// Every other step is of another program, the rest of one.
    private var program: Requester { Requester(threadID: taken % 2 == 0 ? 1 : 3) }

    private func rename(_ from: String, to: String, flags: UInt32 = 0) throws {
        try fixture.rename(from, to: to, flags: flags, by: program)
    }

    private func photo(_ name: String) -> String { "\(name)@photo.jpg" }
    private func file(_ name: String) -> String { "\(name).json" }

    /// Sometimes the name has come since the kernel looked it up.
    private func append(to name: String) throws -> HandleNumber {
        let flags = O_WRONLY | O_APPEND
        guard taken % 3 == 0 else { return try fixture.openNew(name, flags: flags, by: program) }
        return try fixture.tree.create(
            parent: fixture.notes, name: name.b, mode: 0o644, flags: flags, caller: program
        ).1.handle
    }

    private func perform(_ step: FieldStep) throws {
        switch step {
        case .save(let name, let number):
            try fixture.put("{\"n\":\(number)}", as: file(name), by: program)
        case .saveNull(let name, let number):
            try fixture.put(
                "{\"n\":\(number),\"photo\":null}", as: file(name), by: program)
        case .copy(let name, let other):
            let text = try #require(try fixture.text(file(name), by: program))
            try fixture.put(text, as: file(other), by: program)
        case .write(let name, let bytes): try fixture.put(bytes, as: photo(name), by: program)
        case .append(let name, let bytes):
            let handle = try append(to: photo(name))
            defer { fixture.tree.release(handle) }
            try fixture.write(bytes, to: handle)
            try fixture.tree.flush(handle)
        case .truncate(let name, let size):
            var changes = NodeChanges()
            changes.size = Int64(size)
            let node = try #require(try fixture.lookup(photo(name))).node
            _ = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        case .removeField(let name): try fixture.remove(photo(name))
        case .fieldToScratch(let name, let file): try rename(photo(name), to: file)
        case .scratchToField(let file, let name): try rename(file, to: photo(name))
        case .link(let file, let name):
            let node = try #require(try fixture.lookup(file)).node
            _ = try fixture.tree.link(node, newParent: fixture.notes, newName: photo(name).b)
        case .renameField(let name, let other):
            try rename(photo(name), to: photo(other))
        case .exchangeFields(let name, let other):
            try rename(photo(name), to: photo(other), flags: 2)
        case .exchangeWithField(let file, let name):
            try rename(file, to: photo(name), flags: 2)
        case .removeRecord(let name): try fixture.remove(file(name))
        case .renameRecord(let name, let other): try rename(file(name), to: file(other))
        case .exchangeRecords(let name, let other):
            try rename(file(name), to: file(other), flags: 2)
        case .recordToScratch(let name, let scratch): try rename(file(name), to: scratch)
        case .scratchToRecord(let scratch, let name): try rename(scratch, to: file(name))
        case .exchangeWithRecord(let scratch, let name):
            try rename(scratch, to: file(name), flags: 2)
        case .writeScratch(let name, let bytes): try fixture.put(bytes, as: name, by: program)
        case .removeScratch(let name): try fixture.remove(name)
        case .remount:
            try fixture.remount()
            fixture.observe()
        }
    }

    // MARK: What is shown

    private func difference() throws -> String? {
        var expected = Array(model.scratch.keys) + model.records.keys.map(file)
        expected += model.records.filter { $0.value.photo != nil }.map { photo($0.key) }
        let names = try fixture.names()
        guard names == expected.sorted() else { return "lists \(names), not \(expected.sorted())" }
        for (name, record) in model.records {
            if let difference = try recordDifference(file(name), record, photo(name)) {
                return difference
            }
            let bytes = try fixture.text(photo(name), by: Self.observer)
            guard bytes == record.photo else {
                return "\(photo(name)) reads \(bytes ?? "-"), not \(record.photo ?? "-")"
            }
        }
        for (name, content) in model.scratch {
            switch content {
            case .record(let record):
                if let difference = try recordDifference(name, record, nil) { return difference }
            case .bytes(let bytes):
                let text = try fixture.text(name, by: Self.observer)
                guard text == bytes else { return "\(name) reads \(text ?? "-"), not \(bytes)" }
            }
        }
        return nil
    }

    /// - Parameter photo: the name to which the reference must point.
    private func recordDifference(
        _ name: String, _ record: FieldModel.Record, _ photo: String?
    ) throws -> String? {
        let entry = try #require(try fixture.lookup(name))
        let text = try #require(try fixture.text(name, by: Self.observer))
        let json = try JSONParser.parse(text.b)
        guard entry.attributes.size == text.utf8.count, json["n"] == number(record.number)
        else { return "\(name) has size \(entry.attributes.size) and reads \(text)" }
        guard let bytes = record.photo else {
            return json["photo"] ?? .null == .null ? nil : "\(name) has a photo: \(text)"
        }
        let reference = json["photo"]
        guard reference?["size"] == number(bytes.utf8.count),
            reference?["sha256"]?.string != nil,
            photo == nil || reference?["$asset"]?.string == photo.map({ Text($0) })
        else { return "\(name) does not refer to \(bytes.debugDescription): \(text)" }
        return nil
    }

    private func number(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }

    func finish() throws -> [String] {
        try fixture.tree.finish()
        return try fixture.store.upkeep.integrityCheck(deep: true).map { "\($0)" }
    }
}
