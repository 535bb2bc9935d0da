import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Files of large fields that follow a record to another name after the grace time, and fields that
/// leave a record after it.
@Suite struct FollowingFilesTests {
    private let fixture: StoreFixture
    private let target: RecordID
    private let source: RecordID

    /// `b` has a photo of its own; the photo of `a` is to follow a text to `b`.
    init() throws {
        fixture = try StoreFixture()
        source = try fixture.save("a", "{}").id
        try fixture.setAsset(source, "photo", bytes: "from a")
        target = try fixture.save("b", "{}").id
        try fixture.setAsset(target, "photo", bytes: "of b")
        try follow()
    }

    private func follow() throws {
        let assets = fixture.store.assets
        let (own, following) = (try assets.assets(of: target), try assets.assets(of: source))
        try fixture.write { transaction throws(RecordError) in
            try transaction.assets.setFollows(
                MovedFiles(own: own, following: following), of: self.target)
        }
    }

    private func finish(after age: Duration? = .seconds(3)) throws {
        let failed = try fixture.store.assets.finishFollowing(olderThan: age)
        #expect(failed.isEmpty)
    }

    private func photos(_ id: RecordID? = nil) throws -> [String] {
        try fixture.files(id ?? target).map { String($0.drop { $0 != "=" }.dropFirst()) }
    }

    @Test("a file follows when its time is over, also after a restart, and is shown as coming")
    func follows() throws {
        let start = fixture.clock.now
        #expect(try fixture.store.assets.firstFollowing() == start)
        let shown = try fixture.store.assets.files(
            fixture.store.assets.assets(of: target), of: target)
        #expect(shown.map(\.record) == [source] && shown.map(\.size) == [6])
        try finish()
        #expect(try photos() == ["of b"])
        try fixture.reopen()
        fixture.clock.advance(.seconds(3))
        try finish()
        #expect(try photos() == ["from a"] && photos(source) == ["from a"])
        #expect(try fixture.text("b")?.contains("b@photo.bin") == true)
        #expect(try fixture.store.assets.firstFollowing() == nil)
        try fixture.expectSound()
    }

    enum Meanwhile: CaseIterable {
        case nothing, written, toldOther, ownRemoved, sourceRemoved, stopped, otherText, dropped
    }

    @Test(
        "later bytes stay, and a file that a tool places itself does not follow",
        arguments: Meanwhile.allCases)
    func meanwhile(_ event: Meanwhile) throws {
        let assets = fixture.store.assets
        var right = ["from a"]
        switch event {
        case .nothing: break
        case .written:
            try fixture.setAsset(target, "photo", bytes: "newer")
            right = ["newer"]
        case .toldOther:
            try fixture.sendAll()
            let theirs = try fixture.importBytes("theirs")
            let value = AssetValue(fileName: "b@photo.bin", size: theirs.size, sha256: theirs.hash)
            try fixture.upsert("b", ["photo": .asset(value)], tag: "t2")
            right = ["theirs"]
        case .ownRemoved:
            try fixture.removeAsset(target, "photo")
            right = []
        case .sourceRemoved: try fixture.delete(source)
        case .stopped:
            let asset = try #require(try assets.assets(of: source).first)
            try fixture.write { transaction throws(RecordError) in
                try transaction.assets.stopFollowing(asset)
            }
            right = ["of b"]
        case .otherText:
            // A text that belongs to no other record changes nothing; one that does ends it.
            for files in [MovedFiles.none, MovedFiles(following: [])] {
                #expect(try assets.firstFollowing() != nil)
                try fixture.write { transaction throws(RecordError) in
                    try transaction.assets.setFollows(files, of: target)
                }
            }
            right = ["of b"]
        case .dropped:
            fixture.clock.advance(.seconds(3))
            #expect(try assets.finishFollowing(olderThan: .seconds(60)).isEmpty)
            try follow()
        }
        try finish(after: nil)
        #expect(try photos() == right)
        #expect(try assets.firstFollowing() == nil)
        try fixture.expectSound()
    }

    @Test("a record that waits for its deletion gets its file when it comes back")
    func waiting() throws {
        try fixture.beginDelete(target)
        #expect(try fixture.store.assets.firstFollowing() == nil)
        try finish(after: nil)
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(target)
        }
        #expect(try photos() == ["of b"])
        try finish(after: nil)
        #expect(try photos() == ["from a"])
    }

    @Test("a record that moves to another zone has the files that were to follow it")
    func moved() throws {
        let plan = try fixture.write { transaction throws(RecordError) in
            try transaction.moves.move(
                TreeMove(of: target, to: .private, .me, ZoneName("Own")))
        }
        #expect(try photos(plan.copies[0]) == ["from a"])
    }

    // MARK: Fields that leave

    private func beginLeaving() throws {
        let asset = try #require(try fixture.store.assets.assets(of: target).first)
        try fixture.write { transaction throws(RecordError) in
            try transaction.assets.beginLeaving(asset)
        }
    }

    @Test("a field whose file got a name of this machine leaves its record after the grace time")
    func leaves() throws {
        let text = try fixture.text("b")
        try beginLeaving()
        let listed = try fixture.store.assets.assets(in: fixture.note, limit: 9)
        #expect(listed.map(\.record) == [source], "its name is free at once")
        #expect(try fixture.text("b") == text)
        fixture.clock.advance(.seconds(4))
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .seconds(3), author: .mount)
        #expect(try fixture.text("b")?.contains("photo") == false && photos() == [])
        try fixture.expectSound()
    }

    @Test("a field stays when bytes come under its name, or when it may not leave")
    func stays() throws {
        for isWritten in [true, false] {
            let tests = try FollowingFilesTests()
            let fixture = tests.fixture
            try tests.beginLeaving()
            if isWritten {
                try fixture.setAsset(tests.target, "photo", bytes: "newer")
            } else {
                let asset = try #require(
                    try fixture.store.assets.assets(of: tests.target).first)
                try fixture.write { transaction throws(RecordError) in
                    try transaction.assets.keepLeaving(asset)
                }
            }
            fixture.clock.advance(.seconds(4))
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(
                olderThan: .seconds(3), author: .mount)
            #expect(try tests.photos() == [isWritten ? "newer" : "of b"])
            try fixture.expectSound()
        }
    }
}
