import Foundation
import Glibc

/// What a TYPE directory must show, as a model in memory that knows no kernel and no store.
///
/// A name that ends in `.json` and starts with neither `.` nor `#` is a record: its text must
/// parse, else the call that would save it fails and the file keeps the text as a draft.
/// All other names are ordinary files.
struct Oracle: Equatable {
    /// The bytes that each name shows.
    private(set) var files: [String: String] = [:]
    private(set) var links: [String: String] = [:]
    /// Records whose text is a draft.
    private(set) var drafts: Set<String> = []

    /// Names of linked files, each with the number of its file.
    private var linked: [String: Int] = [:]

    init(hasRecords: Bool = true) { self.hasRecords = hasRecords }

    var names: [String] { (Array(files.keys) + Array(links.keys)).sorted() }

    var hasEmptyDraft: Bool { drafts.contains { files[$0]?.isEmpty ?? false } }

    /// False for an ordinary directory, on which the model and its driver are tried themselves.
    let hasRecords: Bool

    func isRecord(_ name: String) -> Bool {
        hasRecords && name.hasSuffix(".json") && !name.hasPrefix(".") && !name.hasPrefix("#")
    }

    /// Whether a text can be saved as a record: one object, fields with letters first, no NUL.
    static func isValid(_ text: String) -> Bool {
        if text.utf8.contains(0) { return false }
        let value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        guard let object = value as? [String: Any] else { return false }
        return object.keys.allSatisfy { key in
            key.utf8.first.map { isLetter($0) } ?? false
                && key.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 95 }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// A flush of a handle that was written to; gives the errno of close.
    mutating func save(_ name: String, _ text: String) -> Int32 {
        links[name] = nil
        for other in [name] + namesLinked(to: name) { files[other] = text }
        guard isRecord(name) else { return 0 }
        if Oracle.isValid(text) {
            drafts.remove(name)
            return 0
        }
        drafts.insert(name)
        // An empty text is a save in progress: a draft, but no error.
        return text.isEmpty ? 0 : EINVAL
    }

    mutating func remove(_ name: String) -> Int32 {
        guard files[name] != nil || links[name] != nil else { return ENOENT }
        files[name] = nil
        links[name] = nil
        linked[name] = nil
        drafts.remove(name)
        return 0
    }

    func isLinked(_ name: String) -> Bool { linked[name] != nil }

    private func namesLinked(to name: String) -> [String] {
        guard let file = linked[name] else { return [] }
        return linked.keys.filter { linked[$0] == file && $0 != name }
    }

    private func areOneFile(_ first: String, _ second: String) -> Bool {
        linked[first] != nil && linked[first] == linked[second]
    }

    mutating func link(_ from: String, _ to: String) -> Int32 {
        guard names.contains(from) else { return ENOENT }
        if names.contains(to) { return EEXIST }
        if isRecord(from) || isRecord(to) { return EPERM }
        files[to] = files[from]
        links[to] = links[from]
        let file = linked[from] ?? (linked.values.max() ?? 0) + 1
        linked[from] = file
        linked[to] = file
        return 0
    }

    mutating func rename(_ from: String, _ to: String, noReplace: Bool = false) -> Int32 {
        if let target = links[from] {
            if noReplace, files[to] != nil || links[to] != nil { return EEXIST }
            if areOneFile(from, to) { return 0 }
            if isRecord(to) { return EPERM }
            if from == to { return 0 }
            let file = linked[from]
            _ = remove(to)
            _ = remove(from)
            links[to] = target
            linked[to] = file
            return 0
        }
        guard let text = files[from] else { return ENOENT }
        if noReplace, files[to] != nil || links[to] != nil { return EEXIST }
        if from == to || areOneFile(from, to) { return 0 }
        if isRecord(to), !namesLinked(to: from).isEmpty { return EXDEV }
        if isRecord(to), isRecord(from) {
            // A draft is renamed as what it is.
            let isDraft = drafts.contains(from)
            _ = remove(from)
            _ = save(to, text)
            if isDraft { drafts.insert(to) }
            return 0
        }
        if isRecord(to), !Oracle.isValid(text) {
            // The target keeps the text as a draft; the source stays where it is.
            files[to] = text
            drafts.insert(to)
            return EPROTO
        }
        let file = linked[from]
        _ = remove(from)
        _ = remove(to)
        files[to] = text
        if !isRecord(to) { linked[to] = file }
        return 0
    }

    mutating func exchange(_ first: String, _ second: String) -> Int32 {
        guard let left = files[first], let right = files[second] else { return ENOENT }
        if first == second || areOneFile(first, second) { return 0 }
        for (name, other) in [(first, second), (second, first)]
        where isRecord(name) && !namesLinked(to: other).isEmpty {
            return EXDEV
        }
        for (name, text) in [(first, right), (second, left)]
        where isRecord(name) && !Oracle.isValid(text) {
            return EPROTO
        }
        let (file, other) = (linked[first], linked[second])
        _ = (remove(first), remove(second))
        _ = save(first, right)
        _ = save(second, left)
        linked[first] = other
        linked[second] = file
        return 0
    }

    mutating func symlink(_ name: String, to target: String) -> Int32 {
        if files[name] != nil || links[name] != nil { return EEXIST }
        if isRecord(name) { return EPERM }
        links[name] = target
        return 0
    }
}
