import Glibc
package import RecordModel
package import RecordStore

/// A file or directory that the mount shows beside the records and keeps on this machine only.
package struct ScratchFile: Hashable, Sendable {
    /// The path below the mount point.
    package let path: [UInt8]
    package let isDirectory: Bool
    /// The space. For a directory the space of everything in it.
    package let usage: ScratchUsage
    package let modified: Timestamp
    /// Indicates whether a tool has made the file for a short time, so that it is removed
    /// automatically.
    package let isTemporary: Bool
    /// A guess of the intended name. Nil for a file without any likeness.
    package let guess: String?
}

/// Guesses the intended meaning of the names in one directory.
private struct ScratchNames {
    private let store: RecordStore
    private let type: TypeID?

    init(_ store: RecordStore, _ directory: ScratchPlace.Directory) {
        self.store = store
        if case .type(let type) = directory { self.type = type } else { type = nil }
    }

    /// Returns whether a large field's file has the name, so that the mount shows that file.
    func isHidden(_ name: [UInt8]) throws(RecordError) -> Bool {
        guard case .asset(let stem, let field, _, _) = EntryName(classifying: name) else {
            return false
        }
        return try files(of: field, stem).contains { $0.fileName == name }
    }

    private func files(of field: FieldName, _ stem: Stem) throws(RecordError) -> [AssetEntry] {
        guard let type, let record = try store.record(type, stem) else { return [] }
        return try store.assets.assets(of: record.id).filter {
            $0.field == field && !$0.isLeaving && ($0.kind == .value || $0.hash != nil)
        }
    }

    func guess(_ name: [UInt8], isDirectory: Bool) throws(RecordError) -> String? {
        guard let type, name.first != UInt8(ascii: "."), name.last != UInt8(ascii: "~"),
            !TemporaryName.isBesideField(name),
            !TemporaryName.isTemporary(name, isDirectory: isDirectory, size: 1)
        else { return nil }
        if isDirectory {
            return "records are DATABASE/ZONE/TYPE/NAME.json; a directory in a TYPE holds none"
        }
        if case .asset(let stem, let field, _, let fileExtension) = EntryName(classifying: name) {
            return try guess(stem, field, fileExtension)
        }
        if let meant = Self.recordName(like: name) {
            return "did you mean \(String(decoding: meant, as: UTF8.self))?"
        }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
        let stem = Stem(bytes: Array(name[..<dot]))
        guard try store.record(type, stem) != nil else { return nil }
        return
            "a large field of \(stem) is \(stem)@FIELD\(String(decoding: name[dot...], as: UTF8.self))"
    }

    private func guess(
        _ stem: Stem, _ field: FieldName, _ fileExtension: [UInt8]
    ) throws(RecordError) -> String? {
        if let file = try files(of: field, stem).first {
            let listed = String(decoding: file.fileName, as: UTF8.self)
            return
                "the field \(field) has the file \(listed); to replace it, use that name"
        }
        guard fileExtension.isEmpty || FileExtension.isValid(fileExtension) else {
            return
                "the ending of a large field has at most \(FileExtension.maximumBytes) bytes, and no "
                + "control characters"
        }
        if let type, let record = try store.record(type, stem), !record.isHidden {
            return
                "the field \(field) of \(stem) has no file: rename this one to any other name and back, "
                + "and it is that"
        }
        return nil
    }

    /// Returns `tea.json` for `tea.jsn`, `Tea.JSON`, `tea.json.txt` and similar names.
    static func recordName(like name: [UInt8]) -> [UInt8]? {
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map(Array.init)
        guard parts.count > 1, let last = parts.last, parts[0] != [] else { return nil }
        var kept = Array(parts.dropLast())
        if last == Array("txt".utf8), kept.count > 1, kept.last == Array("json".utf8) {
            kept.removeLast()
        } else if !isLikeJSON(last.map { $0 | 0x20 }) {
            return nil
        }
        let meant = Array(kept.joined(separator: [UInt8(ascii: ".")])) + Array(".json".utf8)
        guard meant != name, case .record = EntryName(classifying: meant) else { return nil }
        return meant
    }

    /// Returns whether the word differs from "json" by one letter more, less or changed, or by two
    /// exchanged letters.
    private static func isLikeJSON(_ word: [UInt8]) -> Bool {
        let json = Array("json".utf8)
        if word == json { return true }
        guard word.count >= 3, word.count <= 5 else { return false }
        if word.count == 4 {
            let other = json.indices.filter { json[$0] != word[$0] }
            if other.count == 1 { return true }
            return other.count == 2 && json[other[0]] == word[other[1]]
                && json[other[1]] == word[other[0]]
        }
        let (shorter, longer) = word.count < 4 ? (word, json) : (json, word)
        return longer.indices.contains { index in
            var rest = longer
            rest.remove(at: index)
            return rest == shorter
        }
    }
}

extension ScratchFile {
    /// Returns the files and directories beside the records in the directories of the mount, in the
    /// order of their paths. The content of a directory is not listed.
    package static func all(in store: RecordStore) throws(RecordError) -> [ScratchFile] {
        let storage = ScratchStorage(stateDirectory: store.directory)
        var found: [ScratchFile] = []
        for base in try storage.name(inState: ScratchStorage.root).names() {
            guard let directory = ScratchPlace.Directory(baseName: base),
                let parent = try store.shownPath(of: directory)
            else { continue }
            let names = ScratchNames(store, directory)
            for name in try storage.name(ScratchRoute(path: base)).names() {
                let route = base + [UInt8(ascii: "/")] + name
                let host = try storage.name(ScratchRoute(path: route))
                guard let status = try host.status(), try !names.isHidden(name) else { continue }
                found.append(
                    ScratchFile(
                        path: Array((parent + [name]).joined(separator: [UInt8(ascii: "/")])),
                        isDirectory: status.isDirectory,
                        usage: try ScratchUsage(storage, of: route, status),
                        modified: status.st_mtim.timestamp,
                        isTemporary: TemporaryName.isTemporary(
                            name, isDirectory: status.isDirectory, size: Int64(status.st_size))
                            || TemporaryName.isBesideField(name),
                        guess: try names.guess(name, isDirectory: status.isDirectory)))
            }
        }
        return found.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }
}
