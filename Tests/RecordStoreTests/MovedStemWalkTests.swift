import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random records whose files get other names when others come and go, with refused texts and files
/// of large fields: whatever a user wrote and nobody replaced is in a file or in the trash.
@Suite struct MovedStemWalkTests {
    @Test(
        "no refused text and no bytes are lost when the names of files change",
        arguments: LongForm.seeds(16, of: 500))
    func walk(_ seed: Int) throws {
        let walk = try MovedStemWalk(seed: UInt64(seed))
        try walk.take(80, seed: seed)
    }
}

private final class MovedStemWalk: StoreWalk {
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The refused texts that nobody has replaced, taken back or removed.
    private var refused: Set<String> = []
    /// The bytes that were given to records, and that no user has replaced or removed.
    private var bytes: [String: ContentHash] = [:]
    private let names = ["x", "x:Note", "x:Note:Note", "x:Task"]
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    private func type(_ name: String) -> TypeID { name == "Note" ? fixture.note : fixture.task }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let before = try shown()
        _ = fixture.changes()
        steps.append(try step())
        try expectTold(since: before)
        try expectKept()
        if steps.count.isMultiple(of: 5) { try fixture.expectSound() }
    }

    private func step() throws -> String {
        let (typeName, stem) = (random.pick(["Note", "Note", "Task"]), random.pick(names))
        let entry = try fixture.record(stem, type: type(typeName))
        let path = "\(typeName)/\(stem)"
        switch random.below(12) {
        case 0, 1, 2: return try tell(stem, typeName)
        case 3, 4:
            try fixture.remoteDelete(stem)
            return "deleted there: \(stem)"
        case 5, 6: return try refuse(stem, typeName)
        case 7:
            try forgetText(of: entry)
            guard
                failure({
                    try fixture.save(stem, "{\"n\":\(steps.count)}", type: type(typeName))
                }) == nil
            else { return "refused" }
            // Its text names no file: a user who writes that removes the files.
            try forgetFiles(of: entry)
            return "save \(path)"
        case 8: return try attach(entry, path)
        case 9:
            guard let entry, entry.hasDraft else { return "nothing" }
            try forgetText(of: entry)
            _ = failure {
                try fixture.write { transaction throws(RecordError) in
                    try transaction.records.discardDraft(entry.id)
                }
            }
            return "discard \(path)"
        case 10:
            try fixture.sendAll(tag: "s\(steps.count)")
            return "send"
        default:
            try fixture.reopen()
            try fixture.store.assets.collectAssets()
            return "reopen and collect"
        }
    }

    private func tell(_ name: String, _ type: String) throws -> String {
        try fixture.upsert(
            name, ["n": .int64(Int64(steps.count))], type: type, tag: "r\(steps.count)")
        // The server's record has no files: those that it had are the server's no more.
        bytes = [:]
        return "told of \(type)/\(name)"
    }

    private func refuse(_ stem: String, _ typeName: String) throws -> String {
        let text = "{ half \(steps.count)"
        try forgetText(of: try fixture.record(stem, type: type(typeName)))
        let type = type(typeName)
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.records.saveDraft(
                    text: Array(text.utf8), type: type, stem: Stem(stem),
                    error: RecordError(.invalidJSON, "expected a value"))
            }
        }
        if error == nil { refused.insert(text) }
        return "refuse \(text) as \(typeName)/\(stem)"
    }

    private func attach(_ entry: RecordEntry?, _ path: String) throws -> String {
        guard let entry, entry.state == .saved else { return "nothing" }
        try forgetFiles(of: entry)
        let text = "bytes \(steps.count)"
        bytes[text] = try fixture.setAsset(entry.id, "photo", bytes: text)?.hash
        return "\(text) in \(path)"
    }

    /// The user replaces what a file shows.
    private func forgetText(of entry: RecordEntry?) throws {
        guard let entry, let text = try fixture.store.text(of: entry.id) else { return }
        refused.remove(String(decoding: text, as: UTF8.self))
    }

    private func forgetFiles(of entry: RecordEntry?) throws {
        guard let entry else { return }
        let own = Set(try fixture.store.assets.assets(of: entry.id).compactMap(\.hash))
        bytes = bytes.filter { !own.contains($0.value) }
    }

    private struct Name: Hashable {
        let type: TypeID
        let stem: Stem
    }

    /// The texts of all files, by their names.
    private func shown() throws -> [Name: [UInt8]] {
        var shown: [Name: [UInt8]] = [:]
        for type in [fixture.note, fixture.task] {
            for entry in try fixture.store.records(in: type, limit: 1000) {
                shown[Name(type: type, stem: entry.stem)] = try fixture.store.text(of: entry.id)
            }
        }
        return shown
    }

    /// Observers hear of each name that shows another text: by the file that has the name, or by the
    /// file that had it.
    private func expectTold(since before: [Name: [UInt8]]) throws {
        let after = try shown()
        var told: Set<Name> = []
        for change in fixture.changes() {
            guard let type = change.type else { continue }
            for stem in [change.stem, change.former].compactMap(\.self) {
                told.insert(Name(type: type, stem: stem))
            }
        }
        for name in Set(before.keys).union(after.keys).subtracting(told)
        where before[name] != after[name] {
            differences.append("nobody hears of \(name.stem)")
        }
    }

    private func expectKept() throws {
        var texts: [String] = []
        for type in [fixture.note, fixture.task] {
            for entry in try fixture.store.records(in: type, limit: 1000) {
                let text = try fixture.store.text(of: entry.id) ?? []
                texts.append(String(decoding: text, as: UTF8.self))
                try expectNamed(entry)
            }
        }
        for entry in try fixture.store.past.trash(in: fixture.zone.id) {
            let text = try fixture.store.past.trashed(entry.id)?.text ?? []
            texts.append(String(decoding: text, as: UTF8.self))
        }
        for text in refused.subtracting(texts) { differences.append("\(text) is lost") }
        for (text, hash) in bytes where !fixture.exists(hash) {
            differences.append("\(text) are lost")
        }
    }

    /// The files of a record have the name of its file, in its text too.
    private func expectNamed(_ entry: RecordEntry) throws {
        guard let saved = try fixture.savedText(entry.id) else { return }
        for asset in try fixture.store.assets.assets(of: entry.id) where asset.hash != nil {
            let name = String(decoding: asset.fileName, as: UTF8.self)
            if !name.hasPrefix("\(entry.stem)@") { differences.append("\(name) of \(entry.stem)") }
            if !saved.contains("\"\(name)\"") {
                differences.append("\(saved) does not name \(name)")
            }
        }
    }
}
