import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

/// What saves the kernel a question, and what takes its answers back.
@Suite("Questions of the kernel")
struct RequestTests {
    private func canCacheAbsence(
        _ fixture: TreeFixture, _ name: String, as caller: Requester = TreeFixture.user
    ) -> Bool {
        fixture.tree.canCacheAbsence(parent: fixture.notes, name: name.b, caller: caller)
    }

    @Test("absent names may be remembered, but for .error, assets and the daemon's own calls")
    func absence() throws {
        let fixture = try TreeFixture()
        for name in ["n.json", ".n.json.swp"] {
            #expect(canCacheAbsence(fixture, name), "\(name)")
            #expect(!canCacheAbsence(fixture, name, as: TreeFixture.daemon), "\(name)")
        }
        #expect(!canCacheAbsence(fixture, ".error"))
        // A text that names an asset brings it without a call for its name.
        #expect(!canCacheAbsence(fixture, "n@photo.jpg"))
    }

    @Test("a refused rename takes back that its new name is absent, and no other name's")
    func refusedRename() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "old.json")
        let isEntry = { (notice: KernelNotice, name: String) in
            notice == .entry(parent: fixture.notes, name: name.b)
        }
        for name in ["new.json", "old.json"] {
            try fixture.put("{bad", as: "tmp")
            _ = fixture.notices.take()
            #expect(throws: RecordError.self) { try fixture.rename("tmp", to: name) }
            #expect(
                fixture.notices.take().contains { isEntry($0, name) } == (name == "new.json"))
        }
    }

    @Test("a name that was just looked up in vain is made without looking for its row again")
    func absentName() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "other.json")
        let reads = Mutex<[String]>([])
        fixture.store.traceReads { statement in reads.withLock { $0.append(statement) } }
        #expect(try fixture.lookup("n.json") == nil)
        let handle = try fixture.openNew("n.json")
        fixture.store.traceReads(nil)
        // Whether the zone has the name under another type is asked besides.
        let rows = reads.withLock { $0 }.filter { $0.contains("FROM record WHERE type_id") }
        #expect(rows.count == 1)
        try fixture.write("{\"a\":2}", to: handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("n.json") == "{\"a\":2}")
    }

    @Test("a save is one transaction, of a new file and of one that is there")
    func oneTransaction() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "other.json")
        for text in ["{\"a\":2}", "{\"a\":3}"] {
            let before = try #require(fixture.store.commits)
            try fixture.put(text, as: "n.json")
            #expect(fixture.store.commits == before + 1)
        }
    }

    @Test("a name that came after the lookup that missed it is found")
    func absentNameThatCame() throws {
        let fixture = try TreeFixture()
        #expect(try fixture.lookup("n.json") == nil)
        try fixture.receive(
            .upsert([RecordField(name: FieldName("a"), value: .int64(1))], parent: nil), name: "n")
        let error = #expect(throws: RecordError.self) {
            try fixture.openNew("n.json", flags: O_WRONLY | O_EXCL)
        }
        #expect(error?.code == .alreadyExists)
    }

    @Test("a file that is only read, and a scratch file, need no call at their close")
    func noFlush() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        try fixture.put("x", as: "tmp")
        for (name, flags, needsNone) in [
            ("n.json", O_RDONLY, true), ("n.json", O_RDWR, false), ("tmp", O_RDWR, true),
        ] {
            let entry = try #require(try fixture.lookup(name))
            let opened = try fixture.tree.open(
                entry.node, flags: flags, caller: TreeFixture.user)
            #expect(opened.needsNoFlush == needsNone, "\(name)")
            fixture.tree.release(opened.handle)
        }
    }

    @Test("a scratch file that became a record while it was open is saved after its last close")
    func adopted() throws {
        let fixture = try TreeFixture()
        let handle = try fixture.openNew("tmp")
        try fixture.write("{\"a\":1}", to: handle)
        try fixture.rename("tmp", to: "n.json")
        try fixture.write("{\"a\":2}", to: handle)
        fixture.tree.release(handle)
        #expect(try fixture.record("n")?.state == .saved)
        #expect(try fixture.history.map(\.kind) == [.created, .updated])
        #expect(try fixture.text("n.json") == "{\"a\":2}")
    }

    @Test("a scratch directory that cannot be searched any more is looked up anew")
    func search() throws {
        let fixture = try TreeFixture()
        let made = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: "dir".b, mode: 0o755)
        let notice = KernelNotice.entry(parent: fixture.notes, name: "dir".b)
        for (mode, isAsked) in [(UInt32(0o644), true), (0o700, false)] {
            _ = fixture.notices.take()
            var changes = NodeChanges()
            changes.mode = mode
            _ = try fixture.tree.setAttributes(of: made.node, changes, handle: nil)
            #expect(fixture.notices.take().contains(notice) == isAsked)
        }
    }

    @Test("access is refused by the mode of what is generated or not executable")
    func access() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let record = try #require(try fixture.lookup("n.json")).node
        try fixture.tree.checkAccess(record, mask: R_OK | W_OK)
        try fixture.tree.checkAccess(fixture.notes, mask: R_OK | W_OK | X_OK)
        #expect(throws: RecordError.self) { try fixture.tree.checkAccess(record, mask: X_OK) }
        let readme = try #require(try fixture.lookup("README.md", in: .root)).node
        #expect(throws: RecordError.self) { try fixture.tree.checkAccess(readme, mask: W_OK) }
    }
}
