import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// A server that a backup has taken back to an earlier state. Its change tags are positions.
@Suite struct ServerRestoreTests {
    private let fixture: StoreFixture
    private let zone: ZoneID

    /// The server has `a`, `b` and `c` at positions 11 to 13, and was never restored.
    init() throws {
        fixture = try StoreFixture()
        zone = fixture.zone.id
        try note(restore: 1)
        try fixture.apply(
            fixture.page([told("a", 1, 11), told("b", 1, 12), told("c", 1, 13)], token: "old"))
    }

    private func told(_ name: String, _ n: Int64, _ position: Int64) -> RemoteChange {
        StoreFixture.told(name, n: n, tag: String(position, radix: 36))
    }

    @discardableResult
    private func note(restore position: Int64) throws -> Bool {
        let point = try #require(ChangePosition(tag: String(position, radix: 36)))
        let isNew = try fixture.feed { (feed) throws(RecordError) in
            try feed.noteRestorePoint(point, of: zone)
        }
        #expect(try fixture.store.syncState.serverRestorePoint(of: zone) == point)
        return isNew
    }

    private func text(_ n: Int) -> String { "{\n  \"n\": \(n)\n}\n" }

    @Test("a new restore point starts the feed again, behind what is known; the same one does not")
    func points() throws {
        #expect(try !note(restore: 1))
        #expect(try fixture.token() == "old" && !fixture.store.syncState.isBehind(zone))
        #expect(try note(restore: 20))
        #expect(try fixture.token() == nil && fixture.store.syncState.isBehind(zone))
        #expect(try !note(restore: 20))
        try fixture.reopen()
        #expect(try fixture.store.syncState.isBehind(zone))
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
        #expect(try fixture.store.syncState.isBehind(zone), "an expired token is no later server")
        try fixture.apply(fixture.page([told("a", 1, 11)], token: "new", isLast: true))
        #expect(try !fixture.store.syncState.isBehind(zone))
    }

    @Test("positions are ordered, and tags of other servers have none")
    func positions() throws {
        let tags = ["0", "9", "a", "z", "10", "zz"].map { ChangePosition(tag: $0) }
        #expect(tags.compactMap(\.self).sorted() == tags.compactMap(\.self))
        for tag in ["", "-1", "t!", "r 1"] { #expect(ChangePosition(tag: tag) == nil, "\(tag)") }
        let first = try #require(ChangePosition(tag: "1"))
        for (distance, isBefore) in [(Int64(1) << 32, true), ((1 << 32) - 1, false), (0, false)] {
            let change = try #require(ChangePosition(tag: String(1 + distance, radix: 36)))
            #expect(first.isBeforeRestore(behind: change) == isBefore, "\(distance)")
        }
    }

    @Test(
        "what this machine knows and the restored server does not is sent again",
        arguments: RestoreCase.all)
    func again(_ row: RestoreCase) throws {
        try fixture.apply(fixture.page([told("b", 2, 15)], token: "later"))
        let id = try #require(try fixture.record("b")).id
        switch row.edit {
        case .none: break
        case .save: try fixture.save("b", text(3))
        case .delete:
            try fixture.delete(id)
        }
        #expect(try note(restore: 1 << 32))
        var changes = [told("a", 1, 11), told("c", 1, 13)]
        if let change = row.change { changes.append(change) }
        try fixture.apply(fixture.page(changes, token: "new", isLast: true))
        #expect(try fixture.text("b") == row.text.map(text))
        #expect(
            try fixture.pending() == row.pending
                || row.edit == .delete && row.change == nil
                    && fixture.claim().allSatisfy(\.isDelete)
        )
        #expect(try fixture.names() == (row.text == nil ? ["a", "c"] : ["a", "b", "c"]))
        try fixture.expectSound()
    }

    @Test("a record that was deleted before the restore is deleted once more, what is new comes")
    func deletedBefore() throws {
        try fixture.apply(fixture.page([StoreFixture.gone("b")], token: "later"))
        #expect(try note(restore: 1 << 32))
        let page = fixture.page(
            [told("a", 1, 11), told("b", 1, 12), told("c", 1, 13), told("d", 1, 14)],
            token: "new", isLast: true)
        #expect(try fixture.apply(page) == [.unchanged, .unchanged, .unchanged, .created])
        #expect(try fixture.names() == ["a", "c", "d"])
        let claims = try fixture.claim()
        #expect(claims.map { "\($0.row.name) \($0.row.operation)" } == ["b delete"])
        #expect(claims.first?.base?.changeTag == "c", "of the state that the server has")
    }

    @Test("a record of another content under a deleted name stays: its author knew more")
    func madeNew() throws {
        try fixture.apply(fixture.page([StoreFixture.gone("b")], token: "later"))
        #expect(try note(restore: 1 << 32))
        try fixture.apply(fixture.page([told("b", 99, 12)], token: "new", isLast: true))
        #expect(try fixture.text("b") == text(99))
        #expect(try !fixture.pending().contains("b delete"))
    }

    /// The work of others on `b` since the restore, after an edit from here that the server has lost.
    enum Since: CaseIterable {
        case changed, setBack, deleted, changedAfterMissedRestore, changedByBackup
    }

    @Test(
        "an edit that the server has lost meets what others did since as a conflict",
        arguments: Since.allCases, [true, false])
    func since(_ since: Since, _ isOwnEdit: Bool) throws {
        if isOwnEdit {
            try fixture.save("b", text(2))
            for claim in try fixture.claim() { try fixture.complete(claim, tag: "f") }
        } else {
            try fixture.apply(fixture.page([told("b", 2, 15)], token: "later"))
        }
        let isMissed = since == .changedAfterMissedRestore
        #expect(try note(restore: isMissed ? 1 << 34 : 1 << 32))
        let change =
            switch since {
            case .changed, .changedAfterMissedRestore: told("b", 7, 1 << 33)
            case .setBack: told("b", 1, 1 << 33)
            case .deleted: StoreFixture.gone("b")
            case .changedByBackup: told("b", 7, 20)
            }
        try fixture.apply(
            fixture.page(
                [told("a", 1, 11), change, told("c", 1, 13)], token: "new", isLast: true))
        let isConflict = isOwnEdit && since != .setBack && since != .changedByBackup
        #expect(try fixture.conflicts() == (isConflict ? ["b"] : []))
        // Without a stamp the local edit is the later one. What nobody here has edited is theirs.
        let right =
            switch since {
            case .deleted: nil as Int?
            case .setBack: 2
            case .changedByBackup: 7
            default: isOwnEdit ? 2 : 7
            }
        #expect(try fixture.text("b") == right.map(text))
        #expect(try fixture.trashed() == (since == .deleted ? ["b"] : []))
        #expect(try fixture.pending() == (right == 2 ? ["b update"] : []))
        try fixture.expectSound()
    }

    @Test("of a zone that was made after the backup everything is sent again, and deletes are not")
    func wholeZone() throws {
        try fixture.save("a", text(5))
        try fixture.delete(try #require(try fixture.record("b")).id)
        try fixture.save("own", text(1))
        try fixture.feed { (feed) throws(RecordError) in try feed.sendAgain(zone) }
        #expect(try fixture.pending().sorted() == ["a create", "c create", "own create"])
        #expect(try fixture.token() == nil && fixture.store.syncState.hasFeedPass(zone))
        for name in ["a", "c"] {
            let id = try #require(try fixture.record(name)).id
            #expect(try fixture.store.meta(of: id)?.changeTag == "")
        }
        try fixture.expectSound()
    }
}

/// The fate of `b` when the server comes back from a backup.
struct RestoreCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The report of the restored server; nil for nothing.
    let change: RemoteChange?
    /// The work of the user on `b` before that.
    var edit: Edit = .none
    let text: Int?
    let pending: [String]
    enum Edit: Sendable { case none, save, delete }

    static func told(_ n: Int64, _ position: Int64) -> RemoteChange {
        StoreFixture.told("b", n: n, tag: String(position, radix: 36))
    }

    /// `b` was acknowledged with 2 at position 15 and the backup is of position 14.
    static let all = [
        RestoreCase(
            testDescription: "a record that it has lost is made again", change: nil, text: 2,
            pending: ["b create"]),
        RestoreCase(
            testDescription: "an earlier state does not come, and the later one is sent again",
            change: told(1, 12), text: 2, pending: ["b update"]),
        RestoreCase(
            testDescription: "the state that was acknowledged is no news", change: told(2, 15),
            text: 2, pending: []),
        RestoreCase(
            testDescription: "a change since the restore is news",
            change: told(7, 1 << 33), text: 7, pending: []),
        RestoreCase(
            testDescription: "an edit over a lost record makes it again", change: nil, edit: .save,
            text: 3, pending: ["b create"]),
        RestoreCase(
            testDescription: "an edit over an earlier state is sent over it", change: told(1, 12),
            edit: .save, text: 3, pending: ["b update"]),
        RestoreCase(
            testDescription: "a deletion of a lost record has nothing left to do", change: nil,
            edit: .delete, text: nil, pending: []),
        RestoreCase(
            testDescription: "a deletion meets the earlier state and deletes that",
            change: told(1, 12), edit: .delete, text: nil, pending: ["b delete"]),
    ]
}
