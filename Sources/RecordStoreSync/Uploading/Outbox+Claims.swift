package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Takes changes of a zone that nobody sends, oldest first, under one new batch number. The
    /// records that a record needs on the server (its parent, and the records in the zone that it
    /// refers to) come before it. While one of these is being sent or is parked, the record waits.
    /// A change that waits for an asset's bytes waits too.
    ///
    /// A record whose text is damaged is parked with the reason.
    package func claimOutbox(
        in zone: ZoneID, limits: ClaimLimits = ClaimLimits(),
        except exceptions: ClaimExceptions = ClaimExceptions()
    ) throws(RecordError) -> [OutboxClaim] {
        // This also applies to a removed zone, because its records are deleted on the server too.
        let name = try transaction.connection.first(
            "SELECT name FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { ZoneName(bytes: $0.bytes(0)) }
        guard let name else { throw RecordError(.notFound, "The zone is gone.") }
        var claiming = Claiming(
            transaction: transaction, zone: (zone, name), batch: try nextBatch(), limits: limits,
            exceptions: exceptions)
        var last: Int64 = 0
        while !claiming.isFull {
            let page = try ready(in: zone, after: last)
            guard let end = page.last else { break }
            for row in page where !claiming.isFull { try claiming.take(row) }
            last = end.id
        }
        return claiming.claims
    }

    private func nextBatch() throws(RecordError) -> Int64 {
        let batch = try transaction.connection.first(
            "SELECT value FROM meta WHERE key = 'nextBatch'"
        ) {
            $0.int64(0)
        }
        guard let batch else { throw RecordError(.corrupt, "The store has no batch counter.") }
        try transaction.connection.run("UPDATE meta SET value = value + 1 WHERE key = 'nextBatch'")
        return batch
    }

    /// Returns the changes that may be taken if nothing that they need is missing.
    private func ready(in zone: ZoneID, after last: Int64) throws(RecordError) -> [OutboxRow] {
        try transaction.connection.all(
            """
            SELECT \(Columns.outbox) FROM outbox o INDEXED BY outbox_ready
            WHERE zone_id = ? AND id > ? AND batch = 0 AND error IS NULL AND waits_for_asset = 0
                AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.zone_id = o.zone_id
                    AND e.name = o.name AND e.batch != 0)
            ORDER BY id LIMIT 200
            """, [.integer(zone.rawValue), .integer(last)]
        ) { $0.outbox() }
    }
}

/// The changes of one request while they are collected.
private struct Claiming {
    let transaction: Transaction
    let zoneID: ZoneID
    let zone: ZoneName
    let batch: Int64
    let limits: ClaimLimits
    let exceptions: ClaimExceptions

    private(set) var claims: [OutboxClaim] = []
    private(set) var isFull = false
    private var bytes = 0
    /// The state of each row.
    private var found: [Int64: State] = [:]
    private var hasMoves: Bool?
    /// For each tree of moved records: whether the server does not have all of it yet.
    private var treesUnderWay: [Int64: Bool] = [:]
    /// The bytes that only the server has, and that changes to be sent contain.
    private var bytesOfServer: Set<String>?
    /// The share that this user is leaving. Nil until somebody asks for it.
    private var leaving: Leaving?

    init(
        transaction: Transaction, zone: (id: ZoneID, name: ZoneName), batch: Int64,
        limits: ClaimLimits, exceptions: ClaimExceptions
    ) {
        self.transaction = transaction
        (zoneID, self.zone) = zone
        self.batch = batch
        self.limits = limits
        self.exceptions = exceptions
    }

    private var connection: SQLConnection { transaction.connection }

    /// Takes a change together with the changes that have to be sent before it. It does not use
    /// recursion, because a chain of parents may be as long as the zone.
    mutating func take(_ row: OutboxRow) throws(RecordError) {
        guard found[row.id] == nil, !exceptions.contains(row) else { return }
        if row.operation == .delete {
            let isNeeded = try hasBytesForOthers(row)
            let hasNoCopy = try waitsForCopy(row)
            let isLeft = try leaving(zoneID).holds(row)
            if isNeeded || hasNoCopy || isLeft {
                found[row.id] = .waits
                return
            }
        } else if row.operation == .update, try mustWait(row),
            try !connection.isRefused(copyOf: row)
        {
            // Its name belonged to another record, which has to be there before.
            found[row.id] = .waits
            return
        }
        guard let first = try step(row) else { return }
        var path = [first]
        while !isFull, let last = path.indices.last {
            guard let need = path[last].needs.popLast() else {
                try add(path.removeLast().claim)
                continue
            }
            guard let before = try pending(need) else { continue }
            switch found[before.id] {
            // Two changes that need each other are sent in the order in which they are found.
            case .taken, .visited: continue
            case nil:
                if before.isReady, !exceptions.contains(before), try !isOnItsWay(before.name),
                    let next = try step(before)
                {
                    path.append(next)
                    continue
                }
            case .waits: break
            }
            // A change that cannot be sent now holds back all changes that need it.
            for step in path { found[step.claim.row.id] = .waits }
            return
        }
    }

    /// Returns whether the deletion of the record would remove bytes that only the server has and
    /// that another record is about to get. This happens after `mv` of a record that was never
    /// read.
    private mutating func hasBytesForOthers(_ row: OutboxRow) throws(RecordError) -> Bool {
        let needed = try neededBytes()
        guard !needed.isEmpty else { return false }
        // Bytes of a version that the server does not have (any more) are not lost with the record.
        // Nothing is lost where the server is not known to have a record.
        let own = try connection.all(
            """
            SELECT DISTINCT k.hash FROM outbox o
            JOIN history h ON h.zone_id = o.zone_id AND h.name = o.name
                AND (h.token = o.base_version
                    OR o.base_version IS NULL AND o.base_tag IS NOT NULL)
            JOIN kept_asset k ON k.holder = 0 AND k.holder_id = h.token
            WHERE o.id = ?
            """, [.integer(row.id)]
        ) { $0.string(0) }
        return own.contains { needed.contains($0) }
    }

    /// Returns the bytes that only the server has, and that changes to be sent contain.
    private mutating func neededBytes() throws(RecordError) -> Set<String> {
        if let bytesOfServer { return bytesOfServer }
        // Most stores have all bytes.
        let isAnyElsewhere = try connection.exists(
            "SELECT 1 FROM asset INDEXED BY asset_elsewhere WHERE downloaded = 0 AND kind = 0")
        let needed =
            isAnyElsewhere
            ? try connection.all(
                """
                SELECT DISTINCT a.hash FROM outbox o JOIN asset a ON a.record_id = o.record_id
                WHERE o.operation != 3 AND a.downloaded = 0 AND a.hash IS NOT NULL
                """
            ) { $0.string(0) } : []
        bytesOfServer = Set(needed)
        return bytesOfServer ?? []
    }

    /// Returns the changes that need bytes which the server would lose with an update. These are
    /// bytes of a large field that was moved to another record and never read. Records that have
    /// the bytes there as well do not count.
    private mutating func changesThatNeedBytes(
        of claim: OutboxClaim
    ) throws(RecordError) -> [OutboxRow] {
        let lost = (claim.baseDocument?.assetHashes ?? [])
            .subtracting(claim.document?.assetHashes ?? [])
        guard !lost.isEmpty else { return [] }
        var rows: [OutboxRow] = []
        for hash in try lost.intersection(neededBytes()).sorted() {
            rows += try connection.all(
                """
                SELECT \(Columns.joined(Columns.outbox, as: "o")) FROM asset a JOIN record r ON r.id = a.record_id
                JOIN outbox o ON o.zone_id = r.zone_id AND o.name = r.name AND o.operation != 3
                WHERE a.hash = ?1 AND a.downloaded = 0 AND r.id != ?2
                    AND NOT EXISTS (SELECT 1 FROM base b JOIN kept_asset k
                        ON k.holder = 0 AND k.holder_id = b.version AND k.hash = ?1
                        WHERE b.record_id = r.id)
                """, [.text(hash), .integer(claim.row.record.rawValue)]
            ) { $0.outbox() }
        }
        return rows
    }

    private mutating func waitsForCopy(_ row: OutboxRow) throws(RecordError) -> Bool {
        let isAsked = if let hasMoves { hasMoves } else { try connection.hasMoves() }
        hasMoves = isAsked
        guard isAsked, let tree = try connection.tree(of: row) else { return false }
        if let isUnderWay = treesUnderWay[tree] { return isUnderWay }
        let isUnderWay = try connection.isUnderWay(tree: tree)
        treesUnderWay[tree] = isUnderWay
        return isUnderWay
    }

    /// Returns whether the name of a change belonged to another record, which first has to be in
    /// its new place. Records that have exchanged places do not wait for each other.
    private mutating func mustWait(_ update: OutboxRow) throws(RecordError) -> Bool {
        guard try waitsForCopy(update) else { return false }
        return try !connection.isCircular(update)
    }

    /// The share that this user is leaving. A user who leaves a share deletes nothing in it:
    /// records that were removed together with it disappear when the share is left. A user leaves a
    /// share by removing its file or its root.
    private struct Leaving {
        var isByFile = false
        var roots: Set<RecordName> = []

        func holds(_ row: OutboxRow) -> Bool {
            isByFile || !roots.isEmpty && !roots.contains(row.name)
        }
    }

    private mutating func leaving(_ zone: ZoneID) throws(RecordError) -> Leaving {
        if let leaving { return leaving }
        var new = Leaving()
        let key: [SQLValue] = [.integer(zone.rawValue), .integer(Database.shared.rawValue)]
        new.isByFile = try connection.exists(
            """
            SELECT 1 FROM share s JOIN zone z ON z.id = s.zone_id
            WHERE s.zone_id = ? AND z.database = ? AND s.ending != 0
            """, key)
        new.roots = Set(
            try connection.all(
                """
                SELECT s.root FROM share s JOIN zone z ON z.id = s.zone_id
                JOIN outbox o ON o.zone_id = s.zone_id AND o.name = s.root AND o.operation = 3
                WHERE s.zone_id = ? AND z.database = ?
                """, key
            ) { RecordName(bytes: $0.bytes(0)) })
        leaving = new
        return new
    }

    private enum State {
        /// The change is being examined; the changes that it needs come first.
        case visited
        case taken
        case waits
    }

    private struct Step {
        let claim: OutboxClaim
        var needs: [Need]
    }

    /// A condition for sending a change.
    private enum Need {
        /// The record has to be made first.
        case record(RecordName)
        /// A change has to be sent first because it needs bytes that the server would lose.
        case change(OutboxRow)
    }

    private func pending(_ need: Need) throws(RecordError) -> OutboxRow? {
        switch need {
        case .record(let name): try pendingCreate(of: name)
        case .change(let row): row
        }
    }

    /// Starts to examine a change. Returns nil when the record cannot be sent as it is here.
    private mutating func step(_ row: OutboxRow) throws(RecordError) -> Step? {
        do throws(RecordError) {
            let claim = try claim(row)
            let needy =
                row.operation == .update ? try changesThatNeedBytes(of: claim) : []
            // Changes of another zone are sent in a separate request.
            guard needy.allSatisfy({ $0.zone == zoneID }) else {
                found[row.id] = .waits
                return nil
            }
            found[row.id] = .visited
            var needs = (claim.document?.needs(in: zone) ?? []).map { Need.record($0) }
            needs += needy.map { Need.change($0) }
            return Step(claim: claim, needs: needs)
        } catch  where error.code == .corrupt || error.isAboutContent {
            found[row.id] = .waits
            try connection.run(
                "UPDATE outbox SET error = ? WHERE id = ?",
                [.text("\(error)"), .integer(row.id)])
            return nil
        }
    }

    private mutating func claim(_ row: OutboxRow) throws(RecordError) -> OutboxClaim {
        guard row.operation != .delete else {
            var claim = OutboxClaim(
                row: row, base: try connection.sync.base(ofDelete: row.id), document: nil)
            claim.movedTo = try connection.address(ofMoved: row)
            claim.origin = try connection.sync.origin(of: row, after: 0)
            return claim
        }
        let record = try transaction.records.requireRecord(row.record)
        guard let text = try connection.records.savedText(of: record.id) else {
            throw .damagedText("record \(record.entry.stem)")
        }
        let place = try transaction.place(record.entry.type)
        let document = try transaction.outbox.document(text, of: record.id, place)
        var claim = OutboxClaim(
            row: row, base: try connection.sync.base(of: record.id), document: document)
        if row.operation == .update, try !waitsForCopy(row) {
            claim.movedTo = try connection.address(ofMoved: row)
        }
        claim.origin = try connection.sync.origin(
            of: row, after: connection.sync.baseVersion(of: row.record) ?? 0)
        claim.baseDocument = try claim.base.flatMap { (base) throws(RecordError) in
            try transaction.outbox.document(of: base, place.name)
        }
        claim.changedFields = FieldMerge.changedFields(
            from: claim.baseDocument?.fields ?? [], to: document.fields)
        claim.longFields = document.longFields(transaction.store.options.limits)
        claim.longFieldsOfBase =
            claim.baseDocument?.longFields(transaction.store.options.limits) ?? []
        // A value that moves from the record to an asset on the server, or back, changes a field
        // there.
        claim.changedFields += claim.longFields.symmetricDifference(claim.longFieldsOfBase)
            .subtracting(claim.changedFields).sorted()
            .filter { claim.base != nil && document[$0] != nil }
        let isKnown = (claim.base?.textOnServer ?? .printed) == .printed
        if !isKnown || !document.isPrinted(after: claim.baseDocument),
            text.count <= RecordLimits.fileTextBytes
        {
            claim.fileText = text
        }
        if claim.base != nil || row.sent != nil || row.generation > 1 {
            // A value that came from elsewhere without a stamp has none here.
            let edits = try transaction.merging.lastEdits(
                of: claim.changedFields, row.name, row.zone)
            let hasForeign = edits.values.contains { !$0.isExact }
            var takesForeign = false
            if hasForeign, let base = claim.base {
                // Values that are sent again over the state of a backup got their stamps when
                // somebody first sent them.
                let point = try connection.sync.serverRestorePoint(of: zoneID)
                takesForeign = point.map { !$0.isBehind(base.changeTag) } ?? true
            }
            // A value that a record was made with, and that the server had before somebody deleted
            // the record there, has no stamp this time either. A user who wrote over it had
            // received no stamp for it, and with a slow clock would seem to be earlier.
            let ancestor =
                claim.base == nil && row.generation == 1
                ? try transaction.merging.ancestor(of: row.name, in: place) : nil
            claim.stamps = edits.filter { field, edit in
                guard takesForeign || edit.isExact else { return false }
                guard let ancestor, edit.isOfCreation, let value = document[field] else {
                    return true
                }
                return !FieldMerge.isSame(value, ancestor[field])
            }
            .mapValues(\.stamp)
        }
        return claim
    }

    private mutating func add(_ claim: OutboxClaim) throws(RecordError) {
        guard claims.isEmpty || bytes + claim.bytes <= limits.bytes,
            claims.count < limits.records
        else {
            isFull = true
            return
        }
        let row = claim.row
        let version = row.operation == .delete ? row.sent : try versionToSend(row)
        let taken = try connection.first(
            """
            UPDATE outbox SET batch = ?, attempts = attempts + 1, sent = ? WHERE id = ?
            RETURNING \(Columns.outbox)
            """, [.integer(batch), .optional(version), .integer(row.id)]
        ) { $0.outbox() }
        guard let taken else { throw RecordError(.notFound, "The outgoing change is gone.") }
        bytes += claim.bytes
        found[row.id] = .taken
        var claim = claim
        claim.row = taken
        claims.append(claim)
    }

    /// Returns the version to send. Returns nil when the server has the values of the newest
    /// version, and only the file's text differs.
    private func versionToSend(_ row: OutboxRow) throws(RecordError) -> Int64? {
        let newest = try connection.sync.newestVersion(row.name, row.zone)
        return try connection.sync.baseVersion(of: row.record) == newest ? nil : newest
    }

    /// Returns whether an earlier change of the name is being sent.
    private func isOnItsWay(_ name: RecordName) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM outbox WHERE zone_id = ? AND name = ? AND batch != 0",
            [.integer(zoneID.rawValue), .name(name)])
    }

    /// Returns the change that makes a record on the server, while it is not acknowledged.
    private func pendingCreate(of name: RecordName) throws(RecordError) -> OutboxRow? {
        try connection.first(
            """
            SELECT \(Columns.outbox) FROM outbox
            WHERE zone_id = ? AND name = ? AND operation = 1 ORDER BY batch DESC LIMIT 1
            """, [.integer(zoneID.rawValue), .name(name)]
        ) { $0.outbox() }
    }
}

extension OutboxRow {
    fileprivate var isReady: Bool { batch == nil && error == nil && !waitsForAsset }
}

extension RecordDocument {
    /// The records of the same zone that have to be on the server before this one.
    fileprivate func needs(in zone: ZoneName) -> [RecordName] {
        fields.flatMap { $0.value.targets(in: zone) } + [parent].compactMap(\.self)
    }

    /// The hashes of its large fields, in hexadecimal, as far as they are known.
    fileprivate var assetHashes: Set<String> {
        Set(KeptAsset.all(in: fields).map(\.hash.hex))
    }
}
