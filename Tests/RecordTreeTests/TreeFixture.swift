import Foundation
import Logging
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import Synchronization
import TestSupport
import Testing

/// A tree over a fresh store, driven as the kernel drives it.
final class TreeFixture {
    let clock = ManualClock()
    let directory: String
    private(set) var store: RecordStore
    private(set) var tree: Tree
    private let storeOptions: StoreOptions
    private let treeOptions: TreeOptions
    let notices = Notices()
    /// The directory local/Box/Note.
    let notes: NodeNumber

    final class Notices: Sendable {
        private let list = Mutex<[KernelNotice]>([])
        func add(_ notice: KernelNotice) { list.withLock { $0.append(notice) } }
        func take() -> [KernelNotice] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    static let user = Requester(threadID: 1)
    static let daemon = Requester(threadID: 2)
    /// A program that this machine cannot name, as one in another namespace of processes.
    static let unknown = Requester(threadID: 3)

    /// - Parameter killed: whose store this is a copy of, as a kill of its process would leave it.
    init(
        database: String = "private", fetcher: any AssetFetcher = NoAssetFetcher(),
        limits: RecordLimits = .standard, server: ServerBridge = .none,
        after killed: TreeFixture? = nil, cacheBytes: Int64? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        directory = NSTemporaryDirectory() + "recordfs-tree-\(UUID().uuidString)"
        if let killed {
            try FileManager.default.copyItem(atPath: killed.directory, toPath: directory)
            clock.advance(killed.clock.now - clock.now)
        } else {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
        }
        var storeOptions = StoreOptions()
        storeOptions.clock = clock
        storeOptions.limits = limits
        store = try RecordStore.open(directory: directory, options: storeOptions)
        var options = Tree.Options(
            owner: 1000, group: 1000, limits: limits, clock: clock, fetcher: fetcher)
        options.report = report
        options.server = server
        options.cacheBytes = cacheBytes
        // A thread is a program of its own.
        options.programs = ProgramTable(
            program: { $0 == Self.unknown.threadID ? nil : $0 }, isRunning: { _ in true })
        tree = Tree(store: store, options: options)
        (self.storeOptions, treeOptions) = (storeOptions, options)
        Self.connect(tree, notices)
        let base = try #require(try tree.lookup(parent: .root, name: database.b, caller: Self.user))
        var place = base
        for name in ["Box", "Note"] {
            place =
                try tree.lookup(parent: place.node, name: name.b, caller: Self.user)
                ?? tree.makeDirectory(parent: place.node, name: name.b, mode: 0o755)
        }
        notes = place.node
    }

    private static func connect(_ tree: Tree, _ notices: Notices) {
        tree.setTouchingThread(daemon.threadID)
        tree.setNotifier(
            { notices.add($0) },
            deliver: { list in for notice in list { notices.add(notice) } })
    }

    /// Unmounts, and mounts the same store again. No handle outlives this.
    func remount(isReadOnly: Bool = false) throws {
        try tree.finish()
        try store.close()
        store = try RecordStore.open(directory: directory, options: storeOptions)
        var options = treeOptions
        options.isReadOnly = isReadOnly
        tree = Tree(store: store, options: options)
        Self.connect(tree, notices)
        try tree.start()
    }

    deinit {
        do {
            try store.close()
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Issue.record("clean-up failed: \(error)")
        }
    }

    func lookup(_ name: String, in parent: NodeNumber? = nil, as caller: Requester = user) throws
        -> NodeEntry?
    {
        try tree.lookup(parent: parent ?? notes, name: name.b, caller: caller)
    }

    func names(in parent: NodeNumber? = nil) throws -> [String] {
        let opened = try tree.openDirectory(parent ?? notes)
        defer { tree.release(opened.handle) }
        var names: [String] = []
        try tree.list(opened.handle, from: 0) { listed in
            names.append(String(decoding: listed.name, as: UTF8.self))
            return true
        }
        return names.sorted()
    }

    /// open(O_CREAT | flags), as the kernel does it.
    func openNew(_ name: String, flags: Int32 = O_WRONLY, by caller: Requester = user) throws
        -> HandleNumber
    {
        if flags & O_EXCL == 0, let entry = try lookup(name, as: caller) {
            return try tree.open(entry.node, flags: flags, caller: caller).handle
        }
        return try tree.create(
            parent: notes, name: name.b, mode: 0o644, flags: flags, caller: caller
        ).1.handle
    }

    func write(_ text: String, to handle: HandleNumber, at offset: Int64 = 0) throws {
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes {
            try tree.write(handle, offset: offset, data: $0, isWriteback: false)
        }
    }

    /// What `echo > NAME` does.
    func put(_ text: String, as name: String, by caller: Requester = user) throws {
        let handle = try openNew(name, flags: O_WRONLY | O_TRUNC, by: caller)
        defer { tree.release(handle) }
        try write(text, to: handle)
        try tree.flush(handle)
    }

    func text(_ name: String, by caller: Requester = user) throws -> String? {
        guard let entry = try lookup(name, as: caller) else { return nil }
        let handle = try tree.open(entry.node, flags: O_RDONLY, caller: caller).handle
        defer { tree.release(handle) }
        return try read(handle)
    }

    func read(_ handle: HandleNumber, offset: Int64 = 0, count: Int = 1 << 20) throws -> String {
        switch try tree.read(handle, offset: offset, count: count) {
        case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .file(let file, let offset, let count):
            var bytes = [UInt8](repeating: 0, count: count)
            let got = pread(file.descriptor, &bytes, count, off_t(offset))
            return String(decoding: bytes.prefix(max(got, 0)), as: UTF8.self)
        case .deferred:
            Issue.record("the bytes are not here")
            return ""
        }
    }

    func rename(
        _ name: String, to newName: String, flags: UInt32 = 0, by caller: Requester = user
    ) throws {
        try tree.rename(
            parent: notes, name: name.b, newParent: notes, newName: newName.b, flags: flags,
            caller: caller)
    }

    func remove(_ name: String) throws {
        try tree.remove(parent: notes, name: name.b, caller: Self.user)
    }

    var history: [HistoryRow] {
        get throws { try store.past.changes(after: 0, limit: 1000) }
    }

    func record(_ name: String) throws -> RecordEntry? {
        let place = try #require(try store.zone(.private, .me, ZoneName("Box")))
        let type = try #require(try store.type(place.id, RecordTypeName("Note")))
        return try store.record(type.id, Stem(name))
    }
}

extension String {
    var b: [UInt8] { Array(utf8) }
}

extension TreeFixture {
    /// Lets the tree hear of commits, as a mount does.
    func observe() {
        let tree = tree
        store.observe { changes in _ = tree.storeChanged(changes) }
    }

    /// The server reports a record with an asset whose bytes stay there.
    func receiveRemoteAsset(name: String, field: String, size: Int64) throws {
        let zone = try #require(try store.zone(.private, .me, ZoneName("Box")))
        let value = AssetValue(
            fileName: Text("\(name)@\(field).jpg"), size: size,
            sha256: ContentHash(hex: String(repeating: "ab", count: 32)))
        try receive(
            .upsert([RecordField(name: FieldName(field), value: .asset(value))], parent: nil),
            name: name, in: zone.id)
    }

    /// Opens an asset whose bytes the fixture's fetcher withholds, and reads it: the handle, and
    /// what the kernel's thread calls to wait for the answer.
    func readWithheldAsset() throws -> (
        handle: HandleNumber, start: @Sendable (@escaping DeferredAnswer) -> Waiting
    ) {
        try receiveRemoteAsset(name: "n", field: "photo", size: 5)
        let entry = try #require(try lookup("n@photo.jpg"))
        let handle = try tree.open(entry.node, flags: O_RDONLY, caller: Self.user).handle
        guard case .deferred(let start) = try tree.read(handle, offset: 0, count: 5) else {
            throw RecordError(.ioFailure, "the read should wait")
        }
        return (handle, start)
    }

    /// What the threads of the daemon do.
    func maintain() throws {
        _ = try tree.maintain()
        tree.endDueShares()
        try tree.clean()
    }

    /// The server has all that was saved: what comes from there is newer then.
    func send() throws {
        let zone = try #require(try store.zone(.private, .me, ZoneName("Box"))).id
        try store.write(author: .sync) { transaction throws(RecordError) in
            for claim in try transaction.outbox.claimOutbox(in: zone) {
                try transaction.outbox.completeOutbox(claim, changeTag: "t0")
            }
        }
    }

    func receive(_ operation: RemoteChange.Operation, name: String, in zone: ZoneID? = nil) throws {
        let zone = try #require(try zone ?? store.zone(.private, .me, ZoneName("Box"))?.id)
        let name = RecordName(name)
        let change =
            if case .delete = operation { RemoteChange(deleted: name) } else {
                RemoteChange(
                    type: RecordTypeName("Note"), name: name, operation: operation, changeTag: "t")
            }
        try store.write(author: .sync) { transaction throws(RecordError) in
            _ = try transaction.feed.applyRemote(change, in: zone)
        }
    }
}
