import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// The calls that a participant's programs may make on the file of a share of others (Sharing, "Deleting").
@Suite("Files of shares of others")
struct SharesOfOthersTests {
    private static let managed = #"{"url":"https://s/1","role":"ADMINISTRATOR"}"#

    @Test("only who manages the share may write its file, and rm leaves the share either way")
    func writing() throws {
        let fixture = try ShareFixture(in: .shared)
        try fixture.share()
        let path = "\(fixture.directory)/.share.json"
        #expect(try fixture.tree.find(path)?.attributes.mode == 0o100444)
        #expect(try code { try fixture.write("{}", to: ".share.json") } == .accessDenied)
        #expect(fixture.server.take() == [])
        try fixture.share(text: Self.managed)
        #expect(try fixture.tree.find(path)?.attributes.mode == 0o100644)
        try fixture.write("{}", to: ".share.json")
        #expect(fixture.server.take() == ["save {}"])
        try fixture.remove(".share.json")
        try fixture.pass(4)
        #expect(fixture.server.take() == ["check", "end"])
    }

    @Test("a share that cannot be left at its time is left later: its end is never given up")
    func leftLater() throws {
        let fixture = try ShareFixture(in: .shared)
        try fixture.share()
        try fixture.remove(".share.json")
        _ = fixture.server.take()
        fixture.server.refuse("end", with: .accessDenied)
        try fixture.pass(4)
        #expect(fixture.server.take() == ["end"])
        #expect(try fixture.read(".share.json") == nil)
        #expect(try fixture.read(".share.error") == nil)
        try fixture.pass(11)
        #expect(fixture.server.take() == ["end"])
        fixture.server.refuse("end", with: .notFound)
        try fixture.pass(11)
        try fixture.pass(11)
        #expect(fixture.server.take() == ["end"], "somebody has ended it")
    }

    @Test("a program that writes the file again has not left the share, also with a bad text")
    func resumed() throws {
        let fixture = try ShareFixture(in: .shared)
        try fixture.share(text: Self.managed)
        try fixture.remove(".share.json")
        fixture.server.refuse("save", with: .invalidRecord)
        let refusal = try code { try fixture.write("{", to: ".share.json") }
        #expect(refusal == .invalidRecord)
        _ = fixture.server.take()
        try fixture.pass(70)
        #expect(fixture.server.take() == [])
    }

    @Test("when leaving fails, that program removes nothing of the zone for a minute, others may")
    func failedLeave() throws {
        let fixture = try ShareFixture(in: .shared)
        try fixture.share()
        fixture.server.refuse("check", with: .unavailable)
        #expect(try code { try fixture.remove(".share.json") } == .unavailable)
        #expect(try code { try fixture.remove("Note/n.json") } == .accessDenied)
        try fixture.remove("Note/m.json", by: Requester(threadID: 7))
        try fixture.pass(59)
        #expect(try code { try fixture.remove("Note/n.json") } == .accessDenied)
        try fixture.pass(2)
        try fixture.remove("Note/n.json")
        #expect(try fixture.tree.find("\(fixture.directory)/Note/n.json") == nil)
    }

    @Test("with the record that is shared goes the end of its share")
    func recordGone() throws {
        let fixture = try ShareFixture(in: .shared)
        try fixture.share("n")
        try fixture.remove("Note/.n.share.json")
        _ = fixture.server.take()
        fixture.server.refuse("end", with: .notFound)
        try fixture.remove("Note/n.json")
        try fixture.pass(4)
        try fixture.pass(20)
        #expect(fixture.server.take() == ["end"])
        #expect(try fixture.tree.store.sharing.endingShares().isEmpty)
    }
}
