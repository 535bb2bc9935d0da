import Foundation
import RecordModel
import RecordSQL
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// Random large fields of records that are edited, deleted, brought back, sent, given up for space and
/// fetched again: each file has the bytes that it was given, and none is kept that nothing needs.
@Suite struct AssetWalkTests {
    @Test(
        "the files of random histories are those that a plain model has, here or at the server",
        arguments: LongForm.seeds(12, of: 200))
    func walk(_ seed: Int) throws {
        let walk = try AssetWalk(seed: UInt64(seed))
        try walk.take(120, seed: seed)
    }
}

private final class AssetWalk: StoreWalk {
    /// The bytes of one record's large fields; those of `pics` are a list.
    private struct Files: Equatable {
        var photo: String?
        var pics: [String] = []
        var all: [String] { [photo].compactMap(\.self) + pics }
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    private let stems = ["a", "b", "c"]
    private var files: [String: Files] = [:]
    private var trash: [String: [Files]] = [:]
    /// The files of each version of a record, by its token.
    private var versions: [Int64: Files] = [:]
    /// The files of each record at the server.
    private var server: [String: Files] = [:]
    private var bytes: [ContentHash: String] = [:]
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        for number in 0..<12 {
            let text = "bytes \(number)"
            bytes[SHA256.hash(Array(text.utf8))] = text
        }
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let token = try fixture.store.past.lastToken()
        let stem = random.pick(stems)
        steps.append(try step(stem))
        // Of several versions of one step the last is what the step has left.
        if let last = try fixture.store.past.versions(after: token, limit: 100).last?.version {
            versions[last.token] = files[last.name.description]
        }
        try expectModel()
    }

    private func step(_ stem: String) throws -> String {
        let entry = try fixture.record(stem)
        switch random.below(14) {
        case 0, 1, 2: return try setPhoto(stem)
        case 3, 4: return try setPicture(stem)
        case 5: return try removeFile(stem)
        case 6:
            guard let entry else { return "nothing" }
            try fixture.delete(entry.id)
            trash[stem, default: []].append(files.removeValue(forKey: stem) ?? Files())
            return "delete \(stem)"
        case 7: return try restore(stem, isThere: entry != nil)
        case 8: return try restoreVersion(stem)
        case 9:
            for claim in try fixture.claim() {
                try fixture.complete(claim, tag: "t\(steps.count)")
                let name = claim.row.name.description
                server[name] = claim.isDelete ? nil : files[name]
            }
            return "send"
        case 10:
            let limit = Int64(random.below(30))
            return "evict \(try fixture.store.assets.evictAssets(keeping: limit))"
        case 11: return try fetch(stem)
        case 12: return try tell(stem)
        default: return try purge()
        }
    }

    private func id(_ stem: String) throws -> RecordID {
        if let id = try fixture.record(stem)?.id { return id }
        files[stem] = Files()
        return try fixture.save(stem, "{\"n\":\(steps.count)}").id
    }

    private func setPhoto(_ stem: String) throws -> String {
        let text = "bytes \(random.below(12))"
        try fixture.setAsset(try id(stem), "photo", bytes: text)
        files[stem]?.photo = text
        return "photo of \(stem): \(text)"
    }

    private func setPicture(_ stem: String) throws -> String {
        let record = try id(stem)
        let text = "bytes \(random.below(12))"
        let index = random.below((files[stem]?.pics.count ?? 0) + 1)
        try fixture.setAsset(record, "pics", index, bytes: text)
        if index < files[stem]?.pics.count ?? 0 {
            files[stem]?.pics[index] = text
        } else {
            files[stem]?.pics.append(text)
        }
        return "picture \(index) of \(stem): \(text)"
    }

    private func removeFile(_ stem: String) throws -> String {
        guard let id = try fixture.record(stem)?.id, let own = files[stem] else { return "nothing" }
        if random.below(2) == 0, own.photo != nil {
            try fixture.removeAsset(id, "photo")
            files[stem]?.photo = nil
            return "no photo of \(stem)"
        }
        guard !own.pics.isEmpty else { return "nothing" }
        let index = random.below(own.pics.count)
        try fixture.removeAsset(id, "pics", index)
        files[stem]?.pics.remove(at: index)
        return "no picture \(index) of \(stem)"
    }

    private func restore(_ stem: String, isThere: Bool) throws -> String {
        guard !isThere,
            let entry = try fixture.store.past.trash(in: fixture.note).first(where: {
                $0.stem == Stem(stem)
            }), isAvailable(trash[stem]?.last)
        else { return "nothing" }
        _ = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(entry.id)
        }
        files[stem] = trash[stem]?.popLast()
        return "restore \(stem)"
    }

    /// Returns whether the bytes are anywhere. Those of an earlier version may have been given up
    /// here, and replaced at the server.
    private func isAvailable(_ files: Files?) -> Bool {
        (files?.all ?? []).allSatisfy { text in
            let hash = SHA256.hash(Array(text.utf8))
            return fixture.store.assets.sizeOfAsset(hash) != nil
                || server.values.contains { $0.all.contains(text) }
        }
    }

    private func restoreVersion(_ stem: String) throws -> String {
        let history = try fixture.store.past.history(of: RecordName(stem), in: fixture.zone.id)
            .filter { versions[$0.token] != nil && isAvailable(versions[$0.token]) }
        guard !history.isEmpty else { return "nothing" }
        let token = random.pick(history).token
        _ = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restoreVersion(token)
        }
        files[stem] = versions[token]
        return "version \(token) of \(stem)"
    }

    /// Somebody else gives the record another photo, which this machine has perhaps not read.
    private func tell(_ stem: String) throws -> String {
        guard let there = server[stem], there == files[stem], try fixture.record(stem) != nil,
            try fixture.outbox().isEmpty
        else { return "nothing" }
        let text = "bytes \(random.below(12))"
        let new = Files(photo: text, pics: there.pics)
        func value(_ name: String, _ text: String) -> FieldValue {
            .asset(
                AssetValue(
                    fileName: Text("\(stem)@\(name).bin"), size: Int64(text.utf8.count),
                    sha256: SHA256.hash(Array(text.utf8))))
        }
        let pictures = there.pics.enumerated().map { value("pics.\($0)", $1) }
        if pictures.isEmpty {
            try fixture.upsert(
                stem, ["photo": value("photo", text)], tag: "t\(steps.count)")
        } else {
            try fixture.upsert(
                stem, ["photo": value("photo", text), "pics": .list(pictures)],
                tag: "t\(steps.count)")
        }
        (files[stem], server[stem]) = (new, new)
        return "told of \(stem) with \(text)"
    }

    /// The bytes of a file that is not here arrive from the server.
    private func fetch(_ stem: String) throws -> String {
        guard let id = try fixture.record(stem)?.id,
            let asset = try fixture.store.assets.assets(of: id).first(where: { !$0.isDownloaded }),
            let hash = asset.hash, let text = bytes[hash]
        else { return "nothing" }
        let path = fixture.store.assets.pathForUnfinishedAsset()
        try Data(text.utf8).write(to: URL(filePath: path))
        let found = try fixture.store.assets.adoptAsset(file: path)
        if found.hash != hash { differences.append("other bytes for \(text)") }
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.assets.setDownloaded(hash)
        }
        return "fetch \(text)"
    }

    private func purge() throws -> String {
        fixture.clock.advance(.seconds(100 * 24 * 3600))
        _ = try fixture.store.upkeep.purgeTrash()
        while try fixture.store.upkeep.keepSmall() {}
        _ = try fixture.store.assets.collectAssets()
        trash = [:]
        return "purge"
    }

    // MARK: Comparison

    private func expect(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight { differences.append(what()) }
    }

    private func expectModel() throws {
        for stem in stems {
            let id = try fixture.record(stem)?.id
            expect((id == nil) == (files[stem] == nil), "\(stem) is there: \(id != nil)")
            guard let id else { continue }
            var found = Files()
            for asset in try fixture.store.assets.assets(of: id) {
                guard let hash = asset.hash, let text = bytes[hash] else {
                    differences.append("\(asset.field) of \(stem) has no bytes")
                    continue
                }
                if asset.index == nil { found.photo = text } else { found.pics.append(text) }
                try expectBytes(asset, hash, text)
            }
            expect(found == files[stem], "\(stem) has \(found) and not \(files[stem] ?? Files())")
        }
        let trashed = try fixture.store.past.trash(in: fixture.note).count
        expect(trashed == trash.values.reduce(0) { $0 + $1.count }, "\(trashed) in the trash")
        try expectNeeded()
        let problems = try fixture.store.upkeep.integrityCheck(deep: steps.count % 10 == 0)
        expect(problems.isEmpty, "\(problems)")
    }

    /// A file that is here has its bytes, and one that is not is at the server.
    private func expectBytes(_ asset: AssetEntry, _ hash: ContentHash, _ text: String) throws {
        let data = FileManager.default.contents(atPath: fixture.store.assets.assetPath(hash))
        guard asset.isDownloaded else {
            let holders = try fixture.store.assets.recordsOfServer(with: hash)
            expect(!holders.isEmpty, "nobody is known to have \(text)")
            let isThere = server.values.contains { $0.all.contains(text) }
            return expect(isThere, "\(text) is nowhere")
        }
        expect(data == Data(text.utf8), "\(text) is not as it was given")
        expect(asset.size == text.utf8.count, "\(text) has \(asset.size) bytes")
    }

    /// The files that rows need are here; after a collection no others are.
    private func expectNeeded() throws {
        let needed = try fixture.store.read { connection throws(RecordError) in
            Set(
                try connection.all(
                    """
                    SELECT hash FROM asset WHERE downloaded = 1 AND kind = 0 AND hash IS NOT NULL
                    UNION SELECT hash FROM kept_asset WHERE downloaded = 1
                    """
                ) { ContentHash(hex: $0.string(0)) })
        }
        let here = Set(try AssetFiles(places: fixture.store.places).all())
        expect(needed.isSubset(of: here), "files that rows need are gone")
        guard random.below(4) == 0 else { return }
        _ = try fixture.store.assets.collectAssets()
        let left = Set(try AssetFiles(places: fixture.store.places).all())
        expect(left == needed, "\(left.subtracting(needed).count) files that nothing needs stay")
    }
}
