import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random trees of records that others share, some for reading only, whose parents change on both
/// sides: what this user may do is what the shares of the server's tree say.
@Suite struct PermissionWalkTests {
    @Test(
        "each record has the permission of its nearest shared ancestor, and a refusal changes nothing",
        arguments: LongForm.seeds(8, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try PermissionWalk(seed: UInt64(seed))
        try walk.take(40, seed: seed)
    }
}

private final class PermissionWalk: StoreWalk {
    private struct Record {
        /// The parent that the server has. Nil in a record that the server does not have.
        var there: String??
        /// The parent in the text here.
        var here: String?
    }

    private let fixture: StoreFixture
    private let zone: ZoneID
    private let note: TypeID
    private var random: SeededRandom
    /// The permission of each shared root; the first two never change, so that the zone is mixed.
    private var roots: [String: ZoneInfo.Permission] = ["w": .readWrite, "r": .readOnly]
    private var records: [String: Record] = [:]
    private let names = ["a", "b", "c", "d", "e", "w", "r"]
    private var count = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        let theirs = try fixture.sharedZone()
        (zone, note) = (theirs.zone.id, theirs.note)
        try tellShares()
        for name in ["w", "r", "a", "b"] {
            _ = try tell(name, below: name == "a" ? "w" : name == "b" ? "r" : nil)
        }
    }

    // MARK: The model

    private func permission(_ name: String) -> ZoneInfo.Permission {
        var seen: Set<String> = []
        var next: String? = name
        while let name = next, seen.insert(name).inserted {
            if let permission = roots[name] { return permission }
            guard let record = records[name] else { return .readWrite }
            // A record without a parent there has the parent that its text says.
            next = (record.there ?? nil) ?? record.here
        }
        return .readWrite
    }

    /// Returns whether a text with this parent may be saved.
    private func maySave(_ name: String, below parent: String?) -> Bool {
        if records[name] != nil, permission(name) == .readOnly { return false }
        if let own = roots[name] { return own == .readWrite }
        return parent.map(permission) ?? .readWrite == .readWrite
    }

    /// Returns whether the texts here make the record its own ancestor.
    private func isRing(_ name: String, below parent: String) -> Bool {
        var seen: Set<String> = []
        var next: String? = parent
        while let ancestor = next, seen.insert(ancestor).inserted {
            if ancestor == name { return true }
            next = records[ancestor]?.here
        }
        return false
    }

    // MARK: Steps

    func next() throws {
        fixture.clock.advance(.seconds(1))
        count += 1
        let name = random.pick(names)
        steps.append(try step(name))
        try expectModel()
        if steps.count.isMultiple(of: 20) { try fixture.expectSound() }
    }

    private func step(_ name: String) throws -> String {
        switch random.below(10) {
        case 0, 1:
            guard !["w", "r"].contains(name) else { return "nothing" }
            return try tell(name, below: random.pick(names.filter { $0 != name }))
        case 2:
            guard records[name] != nil, !["w", "r"].contains(name) else { return "nothing" }
            roots[name] = random.pick([.readOnly, .readWrite])
            try tellShares()
            return "share \(name)"
        case 3, 4, 5, 6:
            return try save(name, below: random.pick(names.filter { $0 != name } + [nil]))
        case 7: return try remove(name)
        case 8:
            let claims = try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.claimOutbox(in: self.zone)
            }
            for claim in claims {
                try fixture.complete(claim, tag: "t\(count)")
                let name = claim.row.name.description
                let parent = records[name]?.here
                records[name]?.there = .some(parent)
            }
            return "send \(claims.map(\.row.name))"
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private func tellShares() throws {
        let shares = roots.sorted { $0.key < $1.key }.map { root, permission in
            Share(
                name: RecordName("s-\(root)"), root: RecordName(root), permission: permission,
                text: Array("{}".utf8))
        }
        try fixture.apply(fixture.page([], shares: shares, in: zone))
    }

    private func tell(_ name: String, below parent: String?) throws -> String {
        count += 1
        // Where both sides have changed the parent, the one here stays until it is sent.
        let isEdited =
            records[name].map { record in
                record.there.map { $0 != record.here } ?? true
            } ?? false
        let fields = [RecordField(name: FieldName("n"), value: .int64(Int64(count)))]
        let change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(fields, parent: parent.map { RecordName($0) }),
            changeTag: "t\(count)", modifiedBy: "_ann")
        try fixture.apply(fixture.page([change], token: "\(count)", in: zone))
        records[name] = Record(there: parent, here: isEdited ? records[name]?.here : parent)
        return "told of \(name) below \(parent ?? "-")"
    }

    private func save(_ name: String, below parent: String?) throws -> String {
        if let parent, records[parent] == nil || isRing(name, below: parent) { return "nothing" }
        let isAllowed = maySave(name, below: parent)
        let there = parent.map { ",\"$parent\":\"\($0)\"" } ?? ""
        let text = "{\"n\":\(random.below(3))\(there)}"
        try attempt("save \(text) as \(name)", isAllowed) { transaction throws(RecordError) in
            _ = try transaction.records.save(
                text: Array(text.utf8), type: self.note, stem: Stem(name))
        }
        if isAllowed {
            records[name] = Record(there: records[name]?.there ?? nil, here: parent)
        }
        return "save \(text) as \(name): \(isAllowed)"
    }

    private func remove(_ name: String) throws -> String {
        guard let id = try fixture.record(name, type: note)?.id else { return "nothing" }
        let isAllowed = permission(name) == .readWrite
        if isAllowed {
            try fixture.write { transaction throws(RecordError) in
                try transaction.checkWritable(id)
            }
            return "check \(name)"
        }
        try attempt("remove \(name)", false) { transaction throws(RecordError) in
            try transaction.records.beginDelete(id)
        }
        try attempt("rename \(name)", false) { transaction throws(RecordError) in
            _ = try transaction.records.rename(id, toType: self.note, stem: Stem("other"))
        }
        let (hash, size) = try fixture.importBytes("bytes")
        try attempt("file of \(name)", false) { transaction throws(RecordError) in
            _ = try transaction.assets.setAsset(
                id, FieldName("photo"), nil, hash, size: size, fileExtension: [])
        }
        return "refuse \(name)"
    }

    /// Does something that is allowed, or is refused and changes nothing.
    private func attempt(
        _ what: String, _ isAllowed: Bool, _ body: (Transaction) throws(RecordError) -> Void
    ) throws {
        let before = try fixture.rows()
        let error = failure {
            try fixture.write { transaction throws(RecordError) in try body(transaction) }
        }
        if isAllowed {
            if let error { differences.append("\(what) fails: \(error)") }
        } else if error?.code != .accessDenied {
            differences.append("\(what) is not refused: \(String(describing: error))")
        } else if try fixture.rows() != before {
            differences.append("\(what) was refused and has changed something")
        }
    }

    private func expectModel() throws {
        guard let info = try fixture.store.zone(zone), info.permission == .mixed else {
            return differences.append("the zone is not mixed")
        }
        for name in records.keys.sorted() {
            guard let id = try fixture.record(name, type: note)?.id else {
                differences.append("\(name) is gone")
                continue
            }
            let found = try fixture.store.sharing.permission(of: id, in: info)
            if found != permission(name) {
                differences.append("\(name) is \(found), not \(permission(name))")
            }
        }
        let isAnyReadOnly = records.keys.contains { permission($0) == .readOnly }
        for type in [nil, note] {
            if try fixture.store.sharing.hasReadOnlyRecord(in: info, type: type) != isAnyReadOnly {
                differences.append("a record for reading: not \(isAnyReadOnly)")
            }
        }
    }
}
