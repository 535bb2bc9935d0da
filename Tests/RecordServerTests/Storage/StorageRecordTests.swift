import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: records") struct StorageRecordTests {
    typealias Sample = StorageSample

    @Test("each user adds only so many names of clients", arguments: StorageSubject.all)
    func clientNames(subject: StorageSubject) async throws {
        let storage = try subject.open()
        _ = try await storage.makeZone()
        func record(_ number: Int, by user: UserName) -> StoredRecord {
            let stamp = WriteStamp(
                milliseconds: 1, user: user, device: Text("\(user) client \(number)"))
            var record = Sample.record("\(user)-\(number)", Int64(number))
            (record.created, record.modified) = (stamp, stamp)
            return record
        }
        let users = [Sample.alice, Sample.bob]
        let records = users.flatMap { user in (1...150).map { record($0, by: user) } }
        try await storage.put(records)
        func stored(_ records: [StoredRecord]) async throws -> [RecordName: StoredRecord] {
            try await storage.read { (reader) throws(ServerError) -> [RecordName: StoredRecord] in
                guard let zone = try reader.zone(Sample.zone) else { return [:] }
                return try reader.records(zone.handle, records.map(\.name))
            }
        }
        let found = try await stored(records)
        for user in users {
            let names = Set(found.values.filter { $0.created.user == user }.map(\.created.device))
            #expect(names.count == 101)
            #expect(names.contains(""))
            #expect(names.contains(Text("\(user) client 1")))
        }
        // What is stored is written again as it was.
        let first = try #require(found[RecordName("\(Sample.alice)-1")])
        try await storage.put([first])
        #expect(try await stored([first])[first.name] == first)
    }

    @Test("a record comes back as it was put", arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        var full = Sample.record(
            "full", 1, fields: #"{"a":{"value":"é","type":"STRING"}}"#, parent: "root",
            share: Sample.share)
        full.hasAssets = true
        full.shortGUID = "short"
        full.created = WriteStamp(milliseconds: -5, user: Sample.carol, device: "")
        let plain = Sample.record("\u{e9}", 2)
        let gone = Sample.tombstone("gone", 3)
        try await storage.put([full, plain, gone])
        let names = ["full", "\u{e9}", "e\u{301}", "gone", "absent"].map { RecordName($0) }
        let found = try await storage.read { (reader) throws(ServerError) in
            try reader.records(zone.handle, names)
        }
        #expect(found[RecordName("full")] == full)
        #expect(found[RecordName("\u{e9}")] == plain)
        #expect(found[RecordName("gone")] == gone)
        #expect(found.count == 3)
    }

    @Test(
        "a record has one row, whatever is put over it and in however many transactions",
        arguments: StorageSubject.all)
    func upsert(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let other = RecordTypeName("Other")
        let states = [
            Sample.record("a", 1, fields: "1"), Sample.record("a", 2, fields: "2"),
            Sample.tombstone("a", 3), Sample.tombstone("a", 4),
            Sample.record("a", 5, type: other, fields: "5", parent: "p", share: Sample.share),
            Sample.record("a", 6, type: other, fields: "6"),
        ]
        for state in states {
            try await storage.put([state])
            let (found, feed) = try await storage.read { (reader) throws(ServerError) in
                (
                    try reader.records(zone.handle, [state.name]),
                    try reader.changes(
                        zone.handle, after: 0, shares: nil, descending: false, limit: 10)
                )
            }
            #expect(found[state.name] == state)
            #expect(feed.count == 1)
            #expect(feed.first?.position == state.position)
        }
        try await storage.put(Array(states.dropLast(2)))
        let feed = try await storage.read { (reader) throws(ServerError) in
            try reader.changes(zone.handle, after: 0, shares: nil, descending: false, limit: 10)
        }
        #expect(feed.summary == ["-a@4"])
    }

    @Test(
        "records of one type are listed by name, both ways, page by page, without tombstones",
        arguments: StorageSubject.all)
    func byType(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("b", 1), Sample.record("d", 2), Sample.record("a", 3),
            Sample.record("c", 4, type: RecordTypeName("Other")), Sample.tombstone("e", 5),
        ])
        func list(after: String?, descending: Bool, limit: Int) async throws -> [String] {
            try await storage.read { (reader) throws(ServerError) in
                Sample.names(
                    try reader.records(
                        zone.handle, type: Sample.note, after: after.map { RecordName($0) },
                        descending: descending, limit: limit))
            }
        }
        #expect(try await list(after: nil, descending: false, limit: 10) == ["a", "b", "d"])
        #expect(try await list(after: nil, descending: true, limit: 10) == ["d", "b", "a"])
        #expect(try await list(after: "a", descending: false, limit: 1) == ["b"])
        #expect(try await list(after: "c", descending: true, limit: 10) == ["b", "a"])
        #expect(try await list(after: "d", descending: false, limit: 10) == [])
        let unknown = try await storage.read { (reader) throws(ServerError) in
            try reader.records(
                zone.handle, type: RecordTypeName("Unknown"), after: nil, descending: false,
                limit: 10)
        }
        #expect(unknown.isEmpty)
    }

    @Test("children and members follow their records", arguments: StorageSubject.all)
    func hierarchy(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("root", 1, share: Sample.share),
            Sample.record("b", 2, parent: "root", share: Sample.share),
            Sample.record("a", 3, parent: "root", share: Sample.share),
            Sample.record("c", 4, parent: "b", share: Sample.share),
            Sample.record("x", 5, parent: "other"),
        ])
        func children(_ parent: String, limit: Int = 10) async throws -> [String] {
            try await storage.read { (reader) throws(ServerError) in
                try reader.children(zone.handle, of: RecordName(parent), limit: limit)
                    .map(\.description)
            }
        }
        func members() async throws -> Set<String> {
            try await storage.read { (reader) throws(ServerError) in
                Set(
                    try reader.members(zone.handle, of: Sample.share, limit: 10)
                        .map(\.description))
            }
        }
        #expect(try await children("root") == ["b", "a"])
        #expect(try await children("root", limit: 1) == ["b"])
        #expect(try await children("a").isEmpty)
        #expect(try await members() == ["root", "a", "b", "c"])
        try await storage.put([Sample.tombstone("a", 6), Sample.record("b", 7)])
        #expect(try await children("root").isEmpty)
        #expect(try await members() == ["root", "c"])
    }

    @Test(
        "references are found from their target until they are replaced or their record goes",
        arguments: StorageSubject.all)
    func references(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let target = RecordName("target")
        func put(_ source: String, _ references: [StoredReference]) async throws {
            try await storage.write { (transaction) throws(ServerError) in
                try transaction.putReferences(
                    zone.handle, from: RecordName(source), references)
            }
        }
        func sources(_ action: Reference.Action) async throws -> [String] {
            try await storage.read { (reader) throws(ServerError) in
                try reader.sources(zone.handle, of: target, action: action, limit: 10)
                    .map(\.description)
            }
        }
        try await storage.put([
            Sample.record("b", 1), Sample.record("a", 2), Sample.record("c", 3),
        ])
        let both = [Reference.Action.deleteSelf, .validate].map {
            StoredReference(target: target, action: $0)
        }
        try await put("b", both)
        try await put("a", both + both)
        try await put("c", [both[1]])
        #expect(try await sources(.deleteSelf) == ["a", "b"])
        #expect(try await sources(.validate) == ["a", "b", "c"])
        try await put("b", [StoredReference(target: RecordName("else"), action: .deleteSelf)])
        try await put("c", [])
        #expect(try await sources(.deleteSelf) == ["a"])
        #expect(try await sources(.validate) == ["a"])
        try await storage.put([Sample.tombstone("a", 4)])
        #expect(try await sources(.deleteSelf).isEmpty)
    }

    @Test(
        "the answer of an operation is kept for its user and database",
        arguments: StorageSubject.all)
    func operations(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let other = DatabaseKey(container: Sample.container, owner: .everyone)
        try await storage.write { (transaction) throws(ServerError) in
            for (id, time) in [("one", Int64(10)), ("two", 20)] {
                try transaction.putOperationResult(
                    Sample.database, Sample.alice, operationID: Text(id),
                    result: Array(id.utf8), milliseconds: time, keeping: 9)
            }
        }
        func result(_ user: UserName, _ id: Text, in key: DatabaseKey) async throws -> [UInt8]? {
            try await storage.read { (reader) throws(ServerError) in
                try reader.operationResult(key, user, operationID: id)
            }
        }
        #expect(try await result(Sample.alice, "one", in: Sample.database) == Array("one".utf8))
        #expect(try await result(Sample.bob, "one", in: Sample.database) == nil)
        #expect(try await result(Sample.alice, "one", in: other) == nil)
        #expect(try await result(Sample.alice, "three", in: Sample.database) == nil)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.removeOperationResults(before: 20)
        }
        #expect(try await result(Sample.alice, "one", in: Sample.database) == nil)
        #expect(try await result(Sample.alice, "two", in: Sample.database) != nil)
    }

    @Test(
        "of the operations of a user in a database only the newest are kept",
        arguments: StorageSubject.all)
    func newestOperations(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let other = DatabaseKey(container: Sample.container, owner: .everyone)
        let kept = try await storage.write { (transaction) throws(ServerError) in
            for (key, user) in [
                (Sample.database, Sample.alice), (Sample.database, Sample.bob),
                (other, Sample.alice),
            ] {
                try transaction.putOperationResult(
                    key, user, operationID: "first", result: [1], milliseconds: 5, keeping: 3)
            }
            // Two at one time, one put again.
            for (index, id) in ["a", "b", "c", "a"].enumerated() {
                try transaction.putOperationResult(
                    Sample.database, Sample.alice, operationID: Text(id), result: [2],
                    milliseconds: 10 + Int64(index) / 2, keeping: 3)
            }
            var kept: [String] = []
            for id in ["first", "a", "b", "c"] {
                let row = try transaction.operationResult(
                    Sample.database, Sample.alice, operationID: Text(id))
                if row != nil { kept.append(id) }
            }
            for (key, user) in [(Sample.database, Sample.bob), (other, Sample.alice)] {
                let row = try transaction.operationResult(key, user, operationID: "first")
                if row != nil { kept.append("other") }
            }
            return kept
        }
        #expect(kept == ["a", "b", "c", "other", "other"])
    }
}
