import Foundation
import Logging
package import RecordModel
package import RecordStore
import RecordStoreSync
package import RecordSync
package import ServerTestSupport
import Synchronization
package import TestSupport

/// A machine of somebody's: a store of its own, and the work of the engine against a record server in
/// this process.
package final class Replica: Sendable {
    /// From one start of the daemon to the next.
    private struct Life {
        let store: RecordStore
        let files: TemporaryDirectory
    }

    package let wire: CoreTransport
    /// That it is about.
    package let database: Database
    /// Of the zones that it is about: `me` but in the shared database.
    /// As the server names him.
    package let owner: OwnerName
    private let life: Mutex<Life>
    private let clock: any WallClock
    /// Stands for the machine in stamps.
    private let device: UInt64
    private let settings: Exchange.Settings
    /// How long deletes wait until they are final.
    private let grace: Duration
    /// What was on the disk at the moment of a crash, and what the mount showed; nil for other disks.
    private struct Image {
        let disk: TemporaryDirectory
        let files: [String: [String: String]]?
    }
    private let image = Mutex<Image?>(nil)

    package var store: RecordStore { life.withLock(\.store) }
    /// That of the store's files.
    var directory: String { life.withLock(\.files.path) }
    package var exchange: Exchange { exchange(hasExtensions: settings.hasExtensions) }

    /// - Parameter hasExtensions: whether the server is taken for one of ours.
    package func exchange(hasExtensions: Bool) -> Exchange {
        var settings = settings
        settings.hasExtensions = hasExtensions
        return Exchange(
            store: store, transport: wire, database: database, settings: settings,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    package init(
        _ server: TestServer, as person: TestServer.Person = .alice,
        in database: Database = .private, of owner: OwnerName = .me, clock: (any WallClock)? = nil,
        device: UInt64 = .random(in: 0...UInt64.max), grace: Duration = .zero,
        overHTTP: Bool = true,
        change: (inout Exchange.Settings) -> Void = { _ in }
    ) throws {
        self.clock = clock ?? server.clock
        self.device = device
        self.grace = grace
        self.database = database
        self.owner = owner
        wire = CoreTransport(server, person, overHTTP: overHTTP)
        var settings = Exchange.Settings()
        change(&settings)
        self.settings = settings
        let files = try EmptyStore.makeDirectory()
        life = Mutex(Life(store: try Self.open(files, self.clock, device, grace), files: files))
        wire.onCrash { [weak self] in try self?.takeImage() }
    }

    private static func open(
        _ files: TemporaryDirectory, _ clock: any WallClock, _ device: UInt64, _ grace: Duration
    ) throws -> RecordStore {
        var options = StoreOptions(clock: clock, grace: grace)
        options.device = device
        // Stores of histories are in memory, where a file is made of pages that have to be cleared.
        options.reserveBytes = 256 << 10
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try RecordStore.open(directory: files.path, options: options)
    }

    private func takeImage() throws {
        let copy = try TemporaryDirectory()
        let directory = life.withLock(\.files.path)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.hasPrefix("store.sqlite") || name == "assets" {
            try FileManager.default.copyItem(
                atPath: "\(directory)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        let image = Image(disk: copy, files: try allFiles())
        self.image.withLock { $0 = image }
    }

    /// The store opens after a crash, is whole, and shows what it showed before.
    private func check(after image: Image) throws {
        let problems = try store.upkeep.integrityCheck()
        guard problems.isEmpty else { throw CrashDamage(description: "\(problems)") }
        guard let before = image.files else { return }
        let files = try allFiles()
        guard files == before else {
            throw CrashDamage(description: "It shows \(files), and before \(before)")
        }
    }

    private struct CrashDamage: Error, CustomStringConvertible { let description: String }

    /// The process is killed, and started again.
    package func restart() throws {
        try takeImage()
        _ = try restartAfterCrash()
    }

    /// The process starts again with other files than it had.
    package func restart(with files: TemporaryDirectory) throws {
        image.withLock { $0 = Image(disk: files, files: nil) }
        _ = try restartAfterCrash()
    }

    /// Whether it crashed since it was last started: then it starts again with what the disk had.
    package func restartAfterCrash() throws -> Bool {
        let image = image.withLock { image in
            defer { image = nil }
            return image
        }
        guard let image else { return false }
        wire.revive()
        try store.close()
        let store = try Self.open(image.disk, clock, device, grace)
        life.withLock { $0 = Life(store: store, files: image.disk) }
        try check(after: image)
        return true
    }

    deinit {
        do {
            try store.close()
        } catch {
            fatalError("closing failed: \(error)")
        }
    }

    // MARK: What somebody does at the mount

    /// Saves NAME.json in ZONE/Note.
    package func save(
        _ name: String, _ text: String, zone: String = "Box", type: String = Step.type,
        in database: Database? = nil
    ) throws {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let place = database ?? self.database
            let known = place == .shared ? try self.zone(zone) : nil
            let made: ZoneInfo
            if let known {
                made = known
            } else {
                made = try transaction.makeZone(place, owner, ZoneName(zone))
            }
            let folder = try transaction.makeType(made.id, RecordTypeName(type))
            _ = try transaction.records.save(
                text: Array(text.utf8), type: folder.id, stem: Stem(name))
        }
    }

    /// Writes ZONE/Note/NAME@FIELD.EXT.
    package func attach(
        _ bytes: [UInt8], to name: String, _ field: String = "photo", _ index: Int? = nil,
        fileExtension: String = "jpg", zone: String = "Box", type: String = Step.type
    ) throws {
        let path = store.assets.pathForUnfinishedAsset()
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let (hash, size) = try store.assets.adoptAsset(file: path)
        let record = try required(name, zone, type).id
        _ = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.assets.setAsset(
                record, FieldName(field), index, hash, size: size,
                fileExtension: Array(fileExtension.utf8))
        }
    }

    /// Changes the first byte of a file.
    package static func overwrite(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data([255]))
        try file.close()
    }

    /// `mv NAME.json NEW.json` in one directory.
    ///
    /// - Parameter target: another type, into whose directory it goes.
    package func rename(
        _ name: String, to new: String, zone: String = "Box", type: String = Step.type,
        target: String? = nil
    ) throws {
        let entry = try required(name, zone, type)
        _ = try store.write(author: .mount) { transaction throws(RecordError) in
            var place = entry.type
            if let target, let zone = try self.zone(zone) {
                place = try transaction.makeType(zone.id, RecordTypeName(target)).id
            }
            _ = try transaction.records.rename(entry.id, toType: place, stem: Stem(new))
        }
        try finalizeDeletes()
    }

    /// `mv ZONE/TYPE/NAME.json OTHER/TARGET/`.
    package func move(
        _ name: String, from zone: String, to other: String, type: String = Step.type,
        target targetType: String = Step.type
    ) throws {
        let entry = try required(name, zone, type)
        _ = try store.write(author: .mount) { transaction throws(RecordError) in
            let target = try transaction.makeZone(self.database, self.owner, ZoneName(other))
            let folder = try transaction.makeType(target.id, RecordTypeName(targetType))
            return try transaction.moves.moveRecord(entry.id, to: folder.id, stem: entry.stem)
        }
        try finalizeDeletes()
    }

    /// The files beside NAME.json, also while it waits for its deletion, with what is in them; nil for
    /// what is not on this machine.
    package func assets(
        of name: String, zone: String = "Box", type: String = Step.type
    ) throws -> [String: [UInt8]?] {
        guard let type = try self.type(zone, type),
            let entry = try store.record(type.id, Stem(name))
        else { return [:] }
        var files: [String: [UInt8]?] = [:]
        for asset in try store.assets.assets(of: entry.id) {
            let name = String(decoding: asset.fileName, as: UTF8.self)
            files.updateValue(nil, forKey: name)
            guard asset.isDownloaded, let hash = asset.hash else { continue }
            let data = try Data(contentsOf: URL(fileURLWithPath: store.assets.assetPath(hash)))
            files.updateValue(Array(data), forKey: name)
        }
        return files
    }

    package func delete(
        _ name: String, zone: String = "Box", type: String = Step.type
    ) throws {
        guard let entry = try entry(name, zone, type) else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.beginDelete(entry.id)
        }
        try finalizeDeletes()
    }

    /// Those whose time has come.
    ///
    /// - Parameter age: for how long they have to wait; negative where a clock was set back.
    package func finalizeDeletes(olderThan age: Duration? = nil) throws {
        _ = try store.upkeep.finalizeWaitingDeletes(olderThan: age, author: .mount)
    }

    /// Nil when it is not here.
    package func zone(_ name: String) throws(RecordError) -> ZoneInfo? {
        database == .shared
            ? try store.syncState.sharedZone(of: owner, ZoneName(name))
            : try store.zone(database, owner, ZoneName(name))
    }

    /// `rm -r ZONE`.
    package func removeZone(_ zone: String = "Box") throws {
        guard let info = try self.zone(zone) else { return }
        for type in try types(zone) {
            while let name = try names(zone: zone, type: type).first {
                try delete(name, zone: zone, type: type)
            }
        }
        for type in try store.types(in: info.id) {
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.beginRemovingType(type.id)
            }
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.removeZone(info.id)
        }
    }

    // MARK: What somebody sees there

    private func type(_ zone: String, _ type: String) throws -> TypeInfo? {
        guard let info = try self.zone(zone) else { return nil }
        return try store.type(info.id, RecordTypeName(type))
    }

    /// Those of a zone that is here.
    package func types(_ zone: String) throws -> [String] {
        guard let info = try self.zone(zone) else { return [] }
        return try store.types(in: info.id).map { $0.name.description }.sorted()
    }

    private func required(
        _ name: String, _ zone: String, _ type: String = Step.type
    ) throws -> RecordEntry {
        guard let entry = try entry(name, zone, type) else {
            throw RecordError(.notFound, "there is no \(zone)/\(type)/\(name)")
        }
        return entry
    }

    package func entry(
        _ name: String, _ zone: String = "Box", _ type: String = Step.type
    ) throws -> RecordEntry? {
        guard let type = try self.type(zone, type) else { return nil }
        let entry = try store.record(type.id, Stem(name))
        return entry?.state == .waitingDelete ? nil : entry
    }

    package func names(zone: String = "Box", type: String = Step.type) throws -> [String] {
        guard let type = try self.type(zone, type) else { return [] }
        return try store.records(in: type.id, limit: 10_000).map { $0.stem.description }.sorted()
    }

    /// The record's values, in the order of their names; nil when there is no such file.
    package func text(
        _ name: String, zone: String = "Box", type: String = Step.type
    ) throws -> String? {
        guard let entry = try entry(name, zone, type), entry.state == .saved,
            let text = try store.savedText(of: entry.id)
        else { return nil }
        return try JSONParser.parse(text).sorted.serialized().string
    }

    /// What `cat NAME.json` prints; nil when there is no such file.
    package func file(
        _ name: String, zone: String = "Box", type: String = Step.type
    ) throws -> String? {
        guard let entry = try entry(name, zone, type), entry.state == .saved else { return nil }
        return try store.savedText(of: entry.id)?.string
    }

    package func conflicts(zone: String = "Box") throws -> [Conflict] {
        let kept =
            database == .shared
            ? try self.zone(zone) : try store.past.keptZone(database, owner, ZoneName(zone))
        guard let zone = kept else { return [] }
        return try store.syncState.conflicts(in: zone.id)
    }

    /// Every file with its text.
    package func tree(zone: String = "Box") throws -> [String: String] {
        var tree: [String: String] = [:]
        for name in try names(zone: zone) { tree[name] = try text(name, zone: zone) }
        return tree
    }

    /// Every file as it is, byte for byte.
    package func files(
        zone: String = "Box", type: String = Step.type
    ) throws -> [String: String] {
        guard let type = try self.type(zone, type) else { return [:] }
        var files: [String: String] = [:]
        for entry in try store.records(in: type.id, limit: 10_000) where entry.state == .saved {
            files[entry.stem.description] = try store.savedText(of: entry.id)?.string
        }
        return files
    }

    private func allFiles() throws -> [String: [String: String]] {
        var all: [String: [String: String]] = [:]
        for zone in try zones {
            for type in try types(zone) {
                all[zone + "/" + type] = try files(zone: zone, type: type)
            }
        }
        return all
    }

    package var zones: [String] {
        get throws { try store.zones(in: database).map { $0.name.description } }
    }

    /// What waits to be sent; parked changes with a question mark and the reason's first word.
    package func outbox() throws -> [String] {
        try store.syncState.outbox(limit: 1_000).map {
            "\($0.operation) \($0.name)"
                + ($0.error.map { "? \($0.prefix { $0 != ":" })" } ?? "")
        }
    }

    /// Fetches and sends until nothing is left to do.
    package func sync() async throws {
        try await exchange.round()
        // What was merged is sent by the next.
        for _ in 0..<10
        where try store.syncState.outbox(limit: 1_000).contains(where: { $0.error == nil }) {
            try await exchange.round()
        }
    }

    /// What is wrong with the store.
    package func problems() throws -> [String] { try store.upkeep.integrityCheck(deep: true) }
}

extension JSONValue {
    /// With the members of all objects in the order of their keys.
    var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { JSONMember(key: $0.key, value: $0.value.sorted) }
                    .sorted { $0.key < $1.key })
        case .array(let values): .array(values.map(\.sorted))
        default: self
        }
    }
}

extension [UInt8] {
    fileprivate var string: String { String(decoding: self, as: UTF8.self) }
}
