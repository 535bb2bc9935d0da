import Glibc
import TestSupport

/// One call around files that stay open: two records `NAME.json` that each may have a large field
/// `NAME@photo.jpg`, and two local files.
enum OpenFileStep: Sendable, Equatable {
    typealias Slot = Int

    /// Writes a file as `>` does in a shell.
    case put(String, String)
    case open(Slot, String, isWriting: Bool), write(Slot, String, at: Int), truncate(Slot, Int)
    case flush(Slot), close(Slot)
    case rename(String, String), exchange(String, String), link(String, String), remove(String)
    /// Calls about records by their names. Each has its grace time before and after it.
    case save(String), removeRecord(String), renameRecord(String, String), exchangeRecords
    case pass(seconds: Int), remount

    static let records = ["a", "b"]
    static let fields = records.map(field)
    static let scratch = ["s", "t"]

    static func field(of record: String) -> String { "\(record)@photo.jpg" }

    static func random(from random: inout SeededRandom) -> OpenFileStep {
        let (name, other) = (random.pick(fields + scratch), random.pick(fields + scratch))
        let (slot, record) = (random.below(5), random.pick(records))
        let bytes = random.pick(["one", "two two", "", "three\n"])
        switch random.below(32) {
        case 0..<4: return .put(name, bytes)
        case 4..<10: return .open(slot, name, isWriting: random.below(3) > 0)
        case 10..<13: return .write(slot, bytes, at: random.below(9))
        case 13: return .truncate(slot, random.below(5))
        case 14: return .flush(slot)
        case 15: return .close(slot)
        case 16..<21: return .rename(name, other)
        case 21, 22: return .exchange(name, other)
        case 23: return .link(name, other)
        case 24: return .remove(name)
        case 25, 26: return .save(record)
        case 27: return .removeRecord(record)
        case 28: return .renameRecord(record, record == "a" ? "b" : "a")
        case 29: return .exchangeRecords
        case 30: return .pass(seconds: random.pick([1, 4, 3601]))
        default: return random.below(3) == 0 ? .remount : .pass(seconds: 4)
        }
    }
}

/// The expected names and open files, as ext4 has them, where a large field goes with its record
/// (MountContract, "Renaming and moving a record", "Other bytes under a name" and "Scratch").
struct OpenFileModel {
    typealias Outcome = StepOutcome
    typealias FileID = Int

    struct Handle {
        let file: FileID
        let canWrite: Bool
    }

    private(set) var records: Set<String> = []
    private(set) var names: [String: FileID] = [:]
    private(set) var files: [FileID: [UInt8]] = [:]
    private(set) var handles: [OpenFileStep.Slot: Handle] = [:]
    /// The bytes of a large field in the store. Files of the same bytes are one file for it.
    private var stored: [FileID: [UInt8]] = [:]
    private var next = 0

    private func isField(_ name: String) -> Bool { name.contains("@") }

    /// Indicates whether a file can have the name: a field needs its record.
    private func hasPlace(_ name: String) -> Bool {
        !isField(name) || records.contains(String(name.prefix { $0 != "@" }))
    }

    private func links(_ file: FileID) -> Int { names.values.count { $0 == file } }

    func isWritten(_ file: FileID) -> Bool {
        handles.values.contains { $0.file == file && $0.canWrite }
    }

    private mutating func make(_ name: String, _ bytes: [UInt8]) {
        (files[next], names[name], stored[next]) = (bytes, next, bytes)
        next += 1
    }

    /// Saves a file. An empty one is a save in progress while somebody writes it.
    private mutating func save(_ file: FileID) {
        if files[file]?.isEmpty == false || !isWritten(file) { stored[file] = files[file] }
    }

    /// Indicates whether a commit about both fields may leave an open file of them where it is.
    private var hasOpenTwins: Bool {
        let fields = OpenFileStep.fields.compactMap { names[$0] }
        return fields.count == 2 && stored[fields[0]] == stored[fields[1]]
            && handles.values.contains { fields.contains($0.file) }
    }

    mutating func apply(_ step: OpenFileStep) -> Outcome {
        switch step {
        case .put(let name, let text):
            guard hasPlace(name) else { return .left }
            guard let file = names[name] else {
                make(name, text.b)
                break
            }
            files[file] = text.b
            save(file)
        case .open(let slot, let name, let isWriting):
            guard handles[slot] == nil, let file = names[name] else { return .left }
            handles[slot] = Handle(file: file, canWrite: isWriting)
        case .write(let slot, let text, let offset):
            guard let handle = handles[slot], handle.canWrite, !text.isEmpty else { return .left }
            resize(handle.file, max(files[handle.file]?.count ?? 0, offset + text.b.count))
            files[handle.file]?.replaceSubrange(offset..<offset + text.b.count, with: text.b)
        case .truncate(let slot, let size):
            guard let handle = handles[slot], handle.canWrite else { return .left }
            resize(handle.file, size)
        case .flush(let slot):
            guard let handle = handles[slot] else { return .left }
            if handle.canWrite { save(handle.file) }
        case .close(let slot):
            guard let handle = handles.removeValue(forKey: slot) else { return .left }
            if handle.canWrite { save(handle.file) }
        case .rename, .exchange, .link, .remove: return applyToNames(step)
        case .save, .removeRecord, .renameRecord, .exchangeRecords: return applyToRecords(step)
        case .pass: break
        case .remount: handles = [:]
        }
        return .done
    }

    private mutating func resize(_ file: FileID, _ size: Int) {
        let bytes = files[file] ?? []
        files[file] = bytes.prefix(size) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
    }

    private mutating func applyToNames(_ step: OpenFileStep) -> Outcome {
        switch step {
        case .rename(let name, let other):
            guard let file = names[name] else { return .refused(ENOENT) }
            guard hasPlace(other) else { return .left }
            // Two names of one file both stay.
            if file == names[other] { return .done }
            if isField(other), links(file) > 1 { return .refused(EXDEV) }
            names[name] = nil
            names[other] = file
            if !isField(name) { stored[file] = files[file] }
        case .exchange(let name, let other):
            // The kernel answers for a name that is not there, and for two names of one file.
            guard let one = names[name], let two = names[other], one != two else { return .left }
            if isField(name), links(two) > 1 { return .refused(EXDEV) }
            if isField(other), links(one) > 1 { return .refused(EXDEV) }
            (names[name], names[other]) = (two, one)
            if !isField(name) { stored[one] = files[one] }
            if !isField(other) { stored[two] = files[two] }
        case .link(let name, let other):
            guard let file = names[name], !isField(name), hasPlace(other) else { return .left }
            if names[other] != nil { return .refused(EEXIST) }
            // A field gets a copy of the bytes.
            if isField(other) { make(other, files[file] ?? []) } else { names[other] = file }
        case .remove(let name):
            guard names.removeValue(forKey: name) != nil else { return .refused(ENOENT) }
        default: return .left
        }
        return .done
    }

    private mutating func applyToRecords(_ step: OpenFileStep) -> Outcome {
        switch step {
        case .save(let name): records.insert(name)
        case .removeRecord(let name):
            guard records.contains(name) else { return .refused(ENOENT) }
            // A file that is being written stays without its record.
            if let file = names[OpenFileStep.field(of: name)], isWritten(file) { return .left }
            records.remove(name)
            names[OpenFileStep.field(of: name)] = nil
        case .renameRecord(let name, let other):
            guard records.contains(name) else { return .refused(ENOENT) }
            let (field, newField) = (OpenFileStep.field(of: name), OpenFileStep.field(of: other))
            // A file that is being written stays without its record.
            if hasOpenTwins || names[newField].map(isWritten) == true { return .left }
            records.remove(name)
            records.insert(other)
            names[newField] = names.removeValue(forKey: field)
        case .exchangeRecords:
            guard records.count == 2, !hasOpenTwins else { return .left }
            let (field, other) = (OpenFileStep.fields[0], OpenFileStep.fields[1])
            (names[field], names[other]) = (names[other], names[field])
        default: return .left
        }
        return .done
    }
}
