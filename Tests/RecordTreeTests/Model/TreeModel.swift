import Foundation
import Glibc

/// The expected content of a TYPE directory, as MountContract says it: files as ext4 has them, where a record's
/// name also has what the store has of it. Pure, so that it says the same each time.
struct TreeModel {
    typealias FileID = Int

    enum Entry: Equatable { case file(FileID), directory }

    struct File {
        var text: [UInt8] = []
        /// Written and not yet saved: only the file of a record is.
        var isDirty = false
        /// A refusal that fsync did not tell.
        var isUntold = false
    }

    struct Handle {
        let file: FileID
        let canWrite: Bool
    }

    typealias Outcome = StepOutcome

    var entries: [String: Entry] = [:]
    var files: [FileID: File] = [:]
    var handles: [TreeStep.Slot: Handle] = [:]
    /// The names whose text is refused.
    var drafts: Set<String> = []
    /// The state of a record in the store, where that is certain.
    var saved: [String: [UInt8]] = [:]
    /// Names that lost a refused text by a removal. When the earlier text comes back under one, its
    /// program may have undone a failed save, and `.error` goes on telling of that.
    var undone: Set<String> = []
    /// Names of which `.error` may still tell.
    var told: Set<String> = []
    private var nextFile = 1

    static func isRecord(_ path: String) -> Bool {
        !path.contains("/") && path.hasSuffix(".json")
    }

    /// Indicates whether a text is a record: an object of fields.
    static func isValid(_ text: [UInt8]) -> Bool {
        let value = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        guard let fields = value as? [String: Any] else { return false }
        return fields.keys.allSatisfy { $0.allSatisfy(\.isLetter) && !$0.isEmpty }
    }

    func paths(of file: FileID) -> [String] {
        entries.compactMap { $0.value == .file(file) ? $0.key : nil }
    }

    func recordName(of file: FileID) -> String? { paths(of: file).first(where: Self.isRecord) }

    func hasWriter(_ file: FileID) -> Bool {
        handles.values.contains { $0.file == file && $0.canWrite }
    }

    func isOpen(_ path: String) -> Bool {
        guard case .file(let id)? = entries[path] else { return false }
        return hasWriter(id)
    }

    func file(at path: String) -> FileID? {
        guard case .file(let id)? = entries[path] else { return nil }
        return id
    }

    func content(_ directory: String) -> [String] {
        entries.keys.filter { $0.hasPrefix(directory + "/") }
    }

    mutating func add(_ text: [UInt8] = [], at path: String, isDirty: Bool = false) -> FileID {
        defer { nextFile += 1 }
        files[nextFile] = File(text: text, isDirty: isDirty)
        entries[path] = .file(nextFile)
        return nextFile
    }

    // MARK: Saves

    /// Saves what was written to a record's file.
    ///
    /// - Parameter isLast: an empty text is a save in progress until its last writer has gone.
    mutating func save(_ id: FileID, isLast: Bool) -> Outcome {
        guard let file = files[id], file.isDirty, let name = recordName(of: id),
            isLast || !file.text.isEmpty
        else { return .done }
        files[id]?.isDirty = false
        return note(file.text, as: name)
    }

    mutating func note(_ text: [UInt8], as name: String) -> Outcome {
        guard Self.isValid(text) else {
            drafts.insert(name)
            return .refused(EINVAL)
        }
        drafts.remove(name)
        comeBack(name, with: text)
        saved[name] = text
        return .done
    }

    mutating func comeBack(_ name: String, with text: [UInt8]?) {
        func values(_ text: [UInt8]?) -> [UInt8]? { text?.filter { $0 > UInt8(ascii: " ") } }
        if undone.remove(name) != nil {
            told.insert(name)
        } else if values(saved[name]) != values(text) {
            told.remove(name)
        }
    }

    /// A name is gone, and what the store keeps of it until the grace is over is not said.
    mutating func forget(_ name: String) {
        entries[name] = nil
        if drafts.remove(name) != nil || told.remove(name) != nil { undone.insert(name) }
        saved[name] = nil
    }
}
