import Foundation
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import TestSupport
import Testing

@Suite("Cleaning by the mount")
struct CleaningTests {
    @Test("trash older than 30 days goes at the first maintenance of the hour after it")
    func trash() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "a.json")
        try fixture.remove("a.json")
        try fixture.maintain()
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        let type = try #require(try fixture.store.types(in: try zone(fixture)).first?.id)
        #expect(try fixture.store.past.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(30 * 24 * 3600 - 60))
        try fixture.maintain()
        #expect(try fixture.store.past.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(120))
        try fixture.maintain()
        #expect(try fixture.store.past.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(3600))
        try fixture.maintain()
        #expect(try fixture.store.past.trash(in: type).isEmpty)
    }

    @Test(
        "a tool's temporary goes after 7 days without use into the scratch trash, and the log says so"
    )
    func scratch() throws {
        let report = Report()
        let fixture = try TreeFixture(report: { report.add($0) })
        try fixture.followHostClock()
        try fixture.put("old", as: ".a.json.swp")
        let open = try fixture.openNew(".b.json.swp")
        fixture.clock.advance(.seconds(7 * 24 * 3600 - 60))
        try fixture.maintain()
        #expect(try fixture.names() == [".a.json.swp", ".b.json.swp"])
        #expect(report.lines.isEmpty)
        fixture.clock.advance(.seconds(3720))
        try fixture.maintain()
        #expect(try fixture.names() == [".b.json.swp"])
        #expect(
            fixture.notices.take().contains(
                .entry(parent: fixture.notes, name: ".a.json.swp".b)))
        let line = try #require(report.lines.first)
        #expect(line.contains("private/Box/Note/.a.json.swp"), "\(line)")
        let trash = try ScratchUsage.trash(stateDirectory: fixture.directory)
        #expect(trash.files == 1 && trash.bytes == 3)
        fixture.tree.release(open)
        fixture.clock.advance(.seconds(3600))
        try fixture.maintain()
        #expect(try fixture.names() == [])
    }

    @Test("what was thrown away lies at its path in the scratch trash for 30 days")
    func scratchTrash() throws {
        let fixture = try TreeFixture()
        try fixture.followHostClock()
        try fixture.put("mine", as: "notes~")
        fixture.clock.advance(.seconds(8 * 24 * 3600))
        try fixture.maintain()
        let trash = "\(fixture.directory)/scratch-trash"
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: trash).first)
        let kept = "\(trash)/\(run)/private/Box/Note/notes~"
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "mine")
        fixture.clock.advance(.seconds(29 * 24 * 3600))
        try fixture.maintain()
        #expect(FileManager.default.fileExists(atPath: kept))
        fixture.clock.advance(.seconds(2 * 24 * 3600))
        try fixture.maintain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: trash) == [])
    }

    @Test("what is no known temporary stays in scratch for ever, and all that is in a directory")
    func everythingElse() throws {
        let fixture = try TreeFixture()
        try fixture.followHostClock()
        let files = [
            "notes.md", "b.yaml", "C.JSON", ".gitignore", ".config.backup", "x.tmp", "5000",
            ".rec.json.backup", "rec.json.tmp", "sedative1", ".swp", "~", "#", "Makefile",
        ]
        for name in files { try fixture.put("x", as: name) }
        for name in [".git", "work.d", "old~"] {
            let directory = try fixture.tree.makeDirectory(
                parent: fixture.notes, name: name.b, mode: 0o755)
            let (_, opened) = try fixture.tree.create(
                parent: directory.node, name: ".a.json.swp".b, mode: 0o644, flags: O_WRONLY,
                caller: TreeFixture.user)
            fixture.tree.release(opened.handle)
        }
        let before = try fixture.names()
        fixture.clock.advance(.seconds(4000 * 24 * 3600))
        try fixture.maintain()
        #expect(try fixture.names() == before)
        for name in [".git", "work.d", "old~"] {
            let directory = try #require(try fixture.lookup(name))
            #expect(try fixture.names(in: directory.node) == [".a.json.swp"])
        }
        #expect(try ScratchUsage.scratch(stateDirectory: fixture.directory).files == 17)
    }

    @Test(
        "a name that only a tool makes is temporary",
        arguments: [
            ".a.json.swp", ".a.json.swo", ".a.json.swa", ".a.json.svz", ".a.json.kate-swp",
            "a.json~", "a.json.~1~", ".a.json.un~", "#a.json#", ".#a.json", ".~lock.a.ods#",
            "sed8VmXRQ", "XXOyQSF3", "rec.json.oWcpiRE", ".rec.json.kJ82xA", ".a@photo.jpg.Xa9bC2",
            "rec.json.aB3dE5",
            "lu1869010bhm.tmp", ".goutputstream-A1B2C3", "a.json___jb_tmp___",
        ])
    func temporaryNames(name: String) {
        #expect(TemporaryName.isTemporary(name.b, isDirectory: false, size: 100))
        #expect(!TemporaryName.isTemporary(name.b, isDirectory: true, size: 100))
    }

    @Test("vim's probe is temporary only while it is empty, and rsync's directory always")
    func probes() {
        for name in ["4913", "5036", "5159"] {
            #expect(TemporaryName.isTemporary(name.b, isDirectory: false, size: 0))
            #expect(!TemporaryName.isTemporary(name.b, isDirectory: false, size: 1))
        }
        #expect(TemporaryName.isTemporary(".~tmp~".b, isDirectory: true, size: 4096))
    }

    private func zone(_ fixture: TreeFixture) throws -> ZoneID {
        try #require(try fixture.store.zones(in: .private).first).id
    }
}

private final class Report: Sendable {
    private let list = Mutex<[String]>([])
    var lines: [String] { list.withLock { $0 } }
    func add(_ line: String) { list.withLock { $0.append(line) } }
}

extension TreeFixture {
    /// The times of scratch files are the host's.
    fileprivate func followHostClock() throws {
        clock.advance(.nanoseconds(SystemClock().now.nanoseconds - clock.now.nanoseconds))
    }
}
