import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Programs that save a record without the reference of its large field, which the mount adds: they
/// go on from their own text, and nothing of that is a change from elsewhere.
@Suite("Saves of programs that do not know of a large field")
struct SavesBesideFieldsTests {
    typealias Way = ReadingTests.Way
    private static let other = Requester(threadID: 7)
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("{}", as: "theirs.json", by: Self.other)
        try fixture.put("their bytes", as: "theirs@photo.jpg", by: Self.other)
        try fixture.put(#"{"mine":0,"theirs":1}"#, as: "n.json", by: Self.other)
        try fixture.put("bytes", as: "n@photo.jpg", by: Self.other)
        try fixture.send()
    }

    /// The two numbers, and the bytes of the field.
    private func shown() throws -> String {
        let text = try #require(try fixture.text("n.json", by: Requester(threadID: 50)))
        let json = try JSONParser.parse(text.b)
        let numbers = ["mine", "theirs"].map { json[$0]?.serialized() ?? [] }
            .map { String(decoding: $0, as: UTF8.self) }
        let bytes = try fixture.text("n@photo.jpg", by: Requester(threadID: 50))
        #expect((json["photo"]?["sha256"] != nil) == (bytes != nil))
        return (numbers + [bytes ?? "-"]).joined(separator: " ")
    }

    private func receive(theirs: Int64, photoOf name: String) throws {
        let record = try #require(try fixture.record(name))
        let asset = try #require(try fixture.store.assets.assets(of: record.id).first)
        let value = AssetValue(
            fileName: Text("n@photo.jpg"), size: asset.size, sha256: asset.hash)
        let fields = [
            RecordField(name: FieldName("mine"), value: .int64(1)),
            RecordField(name: FieldName("theirs"), value: .int64(theirs)),
            RecordField(name: FieldName("photo"), value: .asset(value)),
        ]
        try fixture.receive(.upsert(fields, parent: nil), name: "n")
    }

    private var conflicts: [[FieldName]] {
        get throws { try fixture.store.syncState.conflicts(in: fixture.box.id).map(\.fields) }
    }

    @Test("what another program here has saved since is replaced", arguments: Way.allCases)
    func otherProgram(way: Way) throws {
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        try Way.temporaryFile.save(#"{"mine":1,"theirs":20}"#, fixture, by: 7)
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        #expect(try shown() == "1 1 bytes")
    }

    @Test("a program that nobody can name keeps the large field, too")
    func unknownProgram() throws {
        try fixture.put(#"{"mine":1,"theirs":1}"#, as: ".n.tmp", by: TreeFixture.unknown)
        try fixture.rename(".n.tmp", to: "n.json", by: TreeFixture.unknown)
        #expect(try shown() == "1 1 bytes")
    }

    @Test("so is a record that was renamed there", arguments: Way.allCases)
    func renamed(way: Way) throws {
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        try fixture.put(#"{"mine":1,"theirs":20}"#, as: "m.json", by: Self.other)
        try fixture.rename("m.json", to: "n.json", by: Self.other)
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        #expect(try shown().hasPrefix("1 1 "))
    }

    @Test("null takes the field away, whatever they saved before", arguments: Way.allCases)
    func null(way: Way) throws {
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        try way.save(#"{"mine":2,"theirs":1,"photo":null}"#, fixture)
        #expect(try shown() == "2 1 -")
    }

    @Test(
        "what another machine has changed since stays, and is no conflict",
        arguments: Way.allCases, ["n", "theirs"])
    func otherMachine(way: Way, photoOf: String) throws {
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        try fixture.send()
        try receive(theirs: 20, photoOf: photoOf)
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try shown() == "2 20 \(photoOf == "n" ? "bytes" : "their bytes")")
        #expect(try conflicts == [])
    }
}
