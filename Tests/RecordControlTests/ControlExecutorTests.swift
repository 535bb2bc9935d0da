import Glibc
import RecordControl
import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite("Requests on a served store")
struct ControlExecutorTests {
    private let served: ServedStore
    private var store: RecordStore { served.store }

    init() throws { served = try ServedStore() }

    private func perform(_ request: ControlRequest) throws -> JSONValue {
        try served.client.perform(request).result
    }

    @Test("put makes zone, type and record, then updates, then leaves equal values alone")
    func put() throws {
        #expect(try served.put("private/Z/T/a", #"{"n":1}"#) == "created")
        #expect(try served.put("private/Z/T/a", #"{"n":2}"#) == "updated")
        #expect(try served.put("private/Z/T/a", #"{ "n": 2 }"#) == "unchanged")
        #expect(try store.text(at: "private/Z/T/a") == #"{ "n": 2 }"#)
        let zone = try store.zone(at: try RecordPath("private/Z"))
        #expect(
            try store.past.history(of: RecordName("a"), in: zone.id).map(\.author) == [
                .commandLine, .commandLine,
            ])
    }

    @Test("a put that cannot be accepted changes nothing and leaves no draft")
    func putBad() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let refused = try error { try served.put("private/Z/T/a", "{\n  \"n\": }") }
        #expect(refused.code == .invalidJSON)
        #expect(refused.position?.line == 2)
        #expect(try store.text(at: "private/Z/T/a") == #"{"n":1}"#)
        #expect(try store.drafts().isEmpty)
        let other = try error { try served.put("private/Other/T/a", "[]") }
        #expect(other.code == .invalidRecord)
        #expect(try store.zone(.private, .me, ZoneName("Other")) == nil)
        #expect(try error { try served.put("private/Z/T", "{}") }.code == .invalidArgument)
    }

    @Test("remove puts a record into the trash, and restore brings it back")
    func removeAndRestore() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let path = try RecordPath("private/Z/T/a")
        _ = try perform(.remove(path, recursive: false))
        #expect(try error { _ = try store.record(at: path) }.code == .notFound)
        #expect(try error { _ = try perform(.remove(path, recursive: false)) }.code == .notFound)
        #expect(try store.past.trash(in: try store.type(at: path).id).count == 1)
        _ = try perform(.restore(path, version: nil))
        #expect(try store.text(at: "private/Z/T/a") == #"{"n":1}"#)
        let missing = try error { _ = try perform(.restore(path, version: nil)) }
        #expect(missing.code == .notFound)
        #expect(missing.message.contains("recordfs restore --list private/Z/T shows"))
    }

    @Test("the path of a record names its type, also when it is gone or was never here")
    func shownPath() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let place = try RecordPath("private/Z")
        let zone = try store.zone(at: place).id
        func shown(_ name: String, type: String? = nil) throws -> String {
            try place.shown(
                RecordName(name), in: zone, of: store, type: type.map { RecordTypeName($0) })
        }
        #expect(try shown("a") == "private/Z/T/a.json")
        #expect(try shown("a", type: "T") == "private/Z/T/a.json")
        #expect(try shown("a", type: "U") == "private/Z/U/a")
        _ = try perform(.remove(try RecordPath("private/Z/T/a"), recursive: false))
        #expect(try shown("a") == "private/Z/T/a")
        #expect(try shown("b/c", type: "U") == "private/Z/U/b%2Fc")
        #expect(try shown("b") == "private/Z/b")
    }

    /// The server has refused what waits of a record.
    private func refuse(_ path: String, _ reason: String) throws {
        let record = try store.record(at: try RecordPath(path)).id
        let zone = try store.zone(at: try RecordPath(path)).id
        try store.write(author: .sync) { transaction throws(RecordError) in
            let claims = try transaction.outbox.claimOutbox(
                in: zone, limits: ClaimLimits(), except: ClaimExceptions())
            for claim in claims {
                let error = claim.row.record == record ? reason : nil
                try transaction.outbox.failOutbox(claim.row.id, error: error)
            }
        }
    }

    @Test("revert gives up what was refused, and nothing that waits or cannot be brought together")
    func revert() throws {
        for name in ["a", "b", "c", "d"] { try served.put("private/Z/T/\(name)", #"{"n":1}"#) }
        try refuse("private/Z/T/a", "ACCESS_DENIED: no")
        let waiting = try error { _ = try perform(.revert(try RecordPath("private/Z/T/b"))) }
        #expect(waiting.code == .notFound)
        #expect(waiting.message.contains("change that waits to be sent"))
        try refuse("private/Z/T/b", "\(OutboxRow.unmergeable): line 1")
        let other = try error { _ = try perform(.revert(try RecordPath("private/Z/T/b"))) }
        #expect(other.code == .unsupported)
        #expect(other.message.contains("cannot be shown here. \(OutboxRow.unmergeable): line 1"))
        let asset = try error { _ = try perform(.revert(try RecordPath("private/Z/T/a@p.jpg"))) }
        #expect(asset.code == .invalidArgument)
        let reverted = try perform(.revert(try RecordPath("private/Z")))
        #expect(reverted.integerMember("reverted") == 1)
        let type = try store.type(at: try RecordPath("private/Z/T")).id
        #expect(try store.records(in: type, limit: 9).map(\.stem.description) == ["b", "c", "d"])
        #expect(try store.past.trash(in: type).map(\.stem.description) == ["a"])
    }

    @Test("to another zone goes along what hangs on a record; what hangs on another stays there")
    func moveTree() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        try served.put("private/Z/S/b", #"{"n":2,"$parent":"a"}"#)
        try served.put("private/Z/S/c", #"{"n":3,"$parent":"b"}"#)
        func move(_ path: String, _ target: String) throws {
            _ = try perform(.move(try RecordPath(path), to: try RecordPath(target)))
        }
        let child = try error { try move("private/Z/S/b", "private/Other/S") }
        #expect(child.code == .invalidArgument && child.message.contains("is a child of T/a"))
        let renamed = try error { try move("private/Z/T/a", "private/Other/T/other") }
        #expect(renamed.code == .invalidArgument && renamed.message.contains("then rename it"))
        #expect(try store.zone(.private, .me, ZoneName("Other")) == nil)
        let same = try error { try move("private/Z/T/a", "private/Z/T") }
        #expect(same.code == .invalidArgument && same.message.contains("private/Z/T is already"))
        try move("private/Z/T/a", "private/Other/T")
        for path in ["T/a", "S/b", "S/c"] {
            #expect(try store.text(at: "private/Other/\(path)")?.contains("\"n\"") == true)
            let old = try error { _ = try store.record(at: try RecordPath("private/Z/\(path)")) }
            #expect(old.code == .notFound)
        }
        // Within the zone names are free.
        try move("private/Other/S/b", "private/Other/S/b2")
        #expect(try store.text(at: "private/Other/S/b2")?.contains("$parent") == true)
    }

    @Test("a record comes back although its type was removed")
    func restoreWithType() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        try served.put("private/Z/U/x", "{}")
        _ = try perform(.remove(try RecordPath("private/Z/T"), recursive: true))
        _ = try perform(.restore(try RecordPath("private/Z/T/a"), version: nil))
        #expect(try store.text(at: "private/Z/T/a") == #"{"n":1}"#)
    }

    @Test("a directory is removed with what is in it only when asked")
    func removeDirectories() throws {
        for number in 0..<250 { try served.put("private/Z/T/r\(number)", "{}") }
        try served.put("private/Z/U/x", "{}")
        let zone = try RecordPath("private/Z")
        let type = try RecordPath("private/Z/T")
        #expect(try error { _ = try perform(.remove(type, recursive: false)) }.code == .notEmpty)
        #expect(try error { _ = try perform(.remove(zone, recursive: false)) }.code == .notEmpty)
        #expect(try perform(.remove(type, recursive: true)).integerMember("removed") == 250)
        #expect(try error { _ = try store.type(at: type) }.code == .notFound)
        #expect(try perform(.remove(zone, recursive: true)).integerMember("removed") == 1)
        #expect(try error { _ = try store.zone(at: zone) }.code == .notFound)
    }

    @Test("with a directory go the files that wait for their record in it")
    func removeAwaited() throws {
        try served.put("private/Z/T/a", "{}")
        let type = try store.type(at: try RecordPath("private/Z/T"))
        let (hash, size) = try store.assets.importAsset(fromFile: "/etc/hostname")
        for (stem, text) in [("b", ""), ("c", "{ half")] {
            try store.write(author: .mount) { transaction throws(RecordError) in
                let record = try transaction.assets.holder(type.id, Stem(stem))
                if !text.isEmpty {
                    _ = try transaction.records.saveDraft(
                        text: bytes(text), type: type.id, stem: Stem(stem),
                        error: RecordError(.invalidJSON, "expected a key"))
                }
                for field in ["x", "y"] {
                    _ = try transaction.assets.setAsset(
                        record, FieldName(field), nil, hash, size: size, fileExtension: [])
                }
            }
        }
        _ = try perform(.remove(try RecordPath("private/Z/T"), recursive: true))
        #expect(
            try error { _ = try store.type(at: try RecordPath("private/Z/T")) }.code == .notFound)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test(
        "move keeps the values under the new name and frees the old one",
        arguments: [
            ("private/Z/T/b", "private/Z/T/b"), ("private/Z/U", "private/Z/U/a"),
            ("private/Y/T/b", "private/Y/T/b"), ("local/Z/T", "local/Z/T/a"),
        ])
    func move(target: String, place: String) throws {
        try served.put("private/Z/T/a", #"{ "n": 1 }"#)
        let source = try RecordPath("private/Z/T/a")
        _ = try perform(.move(source, to: try RecordPath(target)))
        #expect(try store.text(at: place) == #"{ "n": 1 }"#)
        #expect(try error { _ = try store.record(at: source) }.code == .notFound)
    }

    @Test("a record that is only a draft moves as what it is")
    func moveDraft() throws {
        try served.put("private/Z/T/b", #"{"n":1}"#)
        let type = try store.type(at: try RecordPath("private/Z/T"))
        try store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.records.saveDraft(
                text: bytes("{ half"), type: type.id, stem: Stem("a"),
                error: RecordError(.invalidJSON, "expected a key"))
        }
        _ = try perform(
            .move(try RecordPath("private/Z/T/a"), to: try RecordPath("private/Z/T/c")))
        #expect(try store.record(type.id, Stem("a")) == nil)
        #expect(try store.drafts().map(\.stem) == [Stem("c")])
        #expect(try store.drafts().map(\.text) == [bytes("{ half")])
    }

    @Test("move replaces what is there, and refuses to move a thing onto itself or nowhere")
    func moveOver() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        try served.put("private/Z/T/b", #"{"n":2}"#)
        let (a, b) = (try RecordPath("private/Z/T/a"), try RecordPath("private/Z/T/b"))
        #expect(try error { _ = try perform(.move(a, to: a)) }.code == .invalidArgument)
        #expect(
            try error { _ = try perform(.move(a, to: try RecordPath("private/Z"))) }.code
                == .invalidArgument)
        _ = try perform(.move(a, to: b))
        #expect(try store.text(at: "private/Z/T/b") == #"{"n":1}"#)
        #expect(try error { _ = try perform(.move(a, to: b)) }.code == .notFound)
    }

    @Test("a large field is taken from a file, read by its hash, moved and removed")
    func asset() throws {
        let file = try served.directory.file("photo.jpg", "not really a photograph")
        let path = try RecordPath("private/Z/T/a@photo.jpg")
        #expect(
            try error { _ = try perform(.putAsset(path, file: file)) }.code == .notFound)
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let reply = try perform(.putAsset(path, file: file))
        let hash = SHA256.hash(bytes("not really a photograph"))
        #expect(reply.stringMember("sha256") == hash.hex)
        #expect(try readWholeFile(store.assets.assetPath(hash)) == bytes("not really a photograph"))
        #expect(try store.text(at: "private/Z/T/a")?.contains("a@photo.jpg") == true)
        _ = try perform(.move(try RecordPath("private/Z/T/a"), to: try RecordPath("local/Z/T/b")))
        let moved = try store.record(at: try RecordPath("local/Z/T/b"))
        #expect(try store.assets.assets(of: moved.id).map(\.hash) == [hash])
        #expect(try store.assets.assets(of: moved.id).map(\.fileName) == [bytes("b@photo.jpg")])
        let text = try #require(try store.text(at: "local/Z/T/b"))
        #expect(text.contains("b@photo.jpg") && !text.contains("a@photo.jpg"))
        _ = try perform(.remove(try RecordPath("local/Z/T/b@photo"), recursive: false))
        #expect(try store.assets.assets(of: moved.id).isEmpty)
    }

    @Test("a path with an ending means the field's file of that name, one without means the field")
    func assetNames() throws {
        let (first, second) = (
            try served.directory.file("one", "one"), try served.directory.file("two", "two")
        )
        try served.put("private/Z/T/a", #"{"n":1}"#)
        _ = try perform(.putAsset(try RecordPath("private/Z/T/a@photo.jpg"), file: first))
        for other in ["a@photo.jpg.sha256", "a@photo.png"] {
            let path = try RecordPath("private/Z/T/\(other)")
            #expect(
                try error { _ = try perform(.putAsset(path, file: second)) }.code == .alreadyExists)
            #expect(try error { _ = try store.asset(at: path) }.code == .notFound)
            #expect(
                try error { _ = try perform(.remove(path, recursive: false)) }.code == .notFound)
        }
        _ = try perform(.putAsset(try RecordPath("private/Z/T/a@photo"), file: second))
        let asset = try store.asset(at: try RecordPath("private/Z/T/a@photo.jpg"))
        #expect(asset.fileName == bytes("a@photo.jpg"))
        #expect(try readWholeFile(store.assets.assetPath(try #require(asset.hash))) == bytes("two"))
    }

    @Test("a draft is discarded, and the record stays")
    func discardDraft() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let path = try RecordPath("private/Z/T/a")
        #expect(try error { _ = try perform(.discardDraft(path)) }.code == .notFound)
        let entry = try store.record(at: path)
        try store.write(author: .mount) { (transaction) throws(RecordError) in
            _ = try transaction.records.saveDraft(
                text: bytes("{"), type: entry.type, stem: entry.stem,
                error: RecordError(.invalidJSON, "broken"))
        }
        #expect(try store.drafts().count == 1)
        #expect(try perform(.discardDraft(path))["recordRemains"]?.bool == true)
        #expect(try store.drafts().isEmpty)
        #expect(try store.text(at: "private/Z/T/a") == #"{"n":1}"#)
    }

    @Test("an earlier version becomes the present one")
    func restoreVersion() throws {
        try served.put("private/Z/T/a", #"{"n":1}"#)
        let token = try store.past.lastToken()
        try served.put("private/Z/T/a", #"{"n":2}"#)
        _ = try perform(.restore(try RecordPath("private/Z/T/a"), version: token))
        #expect(try store.text(at: "private/Z/T/a") == #"{"n":1}"#)
    }

    @Test("a schema text becomes the schema of its types")
    func schema() throws {
        let fields = RecordSchema(fields: [.init(name: FieldName("due"), type: .timestamp)])
        let text = SchemaText.print([(RecordTypeName("Task"), fields)])
        _ = try perform(.applySchema(text))
        #expect(
            try store.schema(of: RecordTypeName("Task")).type(of: FieldName("due")) == .timestamp)
        #expect(try error { _ = try perform(.applySchema(bytes("nonsense"))) }.position?.line == 1)
    }

    @Test("a batch saves its good rows and reports the others by their numbers")
    func importBatch() throws {
        let rows: [ImportBatch.Row] = [
            .init(stem: Stem("a"), text: bytes(#"{"n":1}"#)),
            .init(stem: Stem("b"), text: bytes(#"{"n":"x"}"#)),
            .init(stem: Stem("c"), text: bytes(#"{"n":3}"#)),
        ]
        let target = try RecordPath("private/Z/T")
        let reply = try perform(.importBatch(ImportBatch(target: target, rows: rows)))
        #expect(reply.integerMember("created") == 2)
        #expect(reply["errors"]?.array?.map { $0.integerMember("row") } == [1])
        #expect(try store.names(in: "private/Z/T") == ["a", "c"])
        let bad = ImportBatch(target: try RecordPath("private/Z"), rows: [])
        #expect(try error { _ = try perform(.importBatch(bad)) }.code == .invalidArgument)
    }

    @Test("a search finds the records of a zone, or of a type of it, that contain all words")
    func search() throws {
        try served.put("private/Z/T/soup", #"{"title":"Thai soup"}"#)
        try served.put("private/Z/U/note", #"{"text":"a soup from a Thai kitchen"}"#)
        try served.put("private/Z/T/cake", #"{"title":"Thai cake"}"#)
        func find(_ path: String, _ words: String) throws -> [String] {
            let request = ControlRequest.search(try RecordPath(path), words: bytes(words))
            let body = try served.client.perform(request).body
            return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
                .sorted()
        }
        #expect(
            try find("private/Z", "soup thai")
                == ["private/Z/T/soup.json", "private/Z/U/note.json"])
        #expect(try find("private/Z/T", "soup") == ["private/Z/T/soup.json"])
        #expect(try find("private/Z", "nothing").isEmpty)
        #expect(try error { _ = try find("private/Y", "soup") }.code == .notFound)
    }

    @Test("files that nothing refers to any more are removed, those in use or never known stay")
    func collectAssets() throws {
        try served.put("private/Z/T/a", #"{"text":"a string"}"#)
        let used = try served.directory.file("used", "used bytes")
        _ = try perform(.putAsset(try RecordPath("private/Z/T/a@photo.jpg"), file: used))
        // The bytes become the field's value, and their file is not needed any more.
        let value = try served.directory.file("value", "a value")
        _ = try perform(.putAsset(try RecordPath("private/Z/T/a@text.txt"), file: value))
        let unused = store.assets.assetPath(SHA256.hash(bytes("a value")))
        #expect(access(unused, F_OK) == 0)
        let digits = String(repeating: "ab", count: 32)
        mkdir("\(store.directory)/assets/ab", 0o700)
        let unknown = "\(store.directory)/assets/ab/\(digits)"
        try writeWholeFile(bytes("unknown"), to: unknown)
        #expect(try perform(.collectAssets).integerMember("removed") == 1)
        #expect(access(unused, F_OK) != 0)
        #expect(access(unknown, F_OK) == 0)
        #expect(access(store.assets.assetPath(SHA256.hash(bytes("used bytes"))), F_OK) == 0)
    }

    @Test("status and flush are answered; verbs that need a daemon say so")
    func verbs() throws {
        #expect(try perform(.status).integerMember("pid") == Int64(getpid()))
        _ = try perform(.verb(.flush))
        for verb in ControlVerb.allCases where verb != .flush {
            #expect(try error { _ = try perform(.verb(verb)) }.code == .unsupported)
        }
    }

    @Test("a remote change is refused outside of tests")
    func applyRemoteOutsideOfTests() throws {
        let change = #"{"path":"private/Z/T/a","record":{}}"#
        let executor = ControlExecutor(store: store)
        let refusal = try error { _ = try executor.run(.applyRemote(bytes(change))) }
        #expect(refusal.code == .unsupported)
        #expect(throws: RecordError.self) { try store.record(at: try RecordPath("private/Z/T/a")) }
    }

    @Test("a remote change makes, changes and deletes a record without an upload")
    func applyRemote() throws {
        func apply(_ text: String) throws -> String? {
            try perform(.applyRemote(bytes(text))).stringMember("outcome")
        }
        let place = #""path":"private/Z/T/a""#
        #expect(try apply("{\(place),\"record\":{\"n\":1},\"changeTag\":\"t1\"}") == "created")
        #expect(try store.text(at: "private/Z/T/a")?.contains("1") == true)
        #expect(try apply("{\(place),\"record\":{\"n\":2},\"changeTag\":\"t2\"}") == "updated")
        #expect(try store.syncState.outbox(limit: 10).isEmpty)
        #expect(try apply("{\(place),\"delete\":true}") == "deleted")
        #expect(
            try error { _ = try store.record(at: try RecordPath("private/Z/T/a")) }.code
                == .notFound)
        #expect(try error { _ = try apply("{}") }.code == .invalidArgument)
        #expect(try error { _ = try apply("{\(place)}") }.code == .invalidArgument)
    }
}

@Suite("Who writes the store")
struct StoreWriterTests {
    @Test("a store that nobody has is written directly, and is free again after")
    func direct() throws {
        let directory = try TemporaryDirectory()
        for _ in 0..<2 {
            let writer = try StoreWriter.open(directory: directory.path, options: .quiet)
            #expect(writer.isDirect)
            _ = try writer.perform(.put(try RecordPath("private/Z/T/a"), text: bytes("{}")))
            try writer.close()
        }
    }

    @Test("a store that a daemon has is written through its socket")
    func throughDaemon() throws {
        let served = try ServedStore()
        let writer = try StoreWriter.open(directory: served.store.directory, options: .quiet)
        #expect(!writer.isDirect)
        _ = try writer.perform(.put(try RecordPath("private/Z/T/a"), text: bytes("{}")))
        #expect(try served.store.names(in: "private/Z/T") == ["a"])
        try writer.close()
    }

    @Test("a store that another process has, without a socket, is refused with its number")
    func locked() throws {
        let directory = try TemporaryDirectory()
        let store = try RecordStore.temporary(directory)
        let refused = try error {
            _ = try StoreWriter.open(
                directory: store.directory, options: .quiet, patience: .zero)
        }
        #expect(refused.code == .storeLocked)
        #expect(refused.message.contains("\(getpid())"))
        try store.close()
    }
}
