import RecordModel
import RecordWire
import Testing

@Suite("Texts that are told as changes") struct TextSpliceTests {
    private static let long = String(
        repeating: "Lorem ipsum dolor sit amet, consectetur. ", count: 40)

    private func check(_ old: String, _ new: String) throws -> TextSplice? {
        let splice = TextSplice(from: Array(old.utf8), to: Array(new.utf8))
        guard let splice else { return nil }
        #expect(splice.applied(to: Array(old.utf8)) == Array(new.utf8))
        var writer = AnswerWriter()
        splice.write(to: &writer)
        let read = try TextSplice(JSONReader(try JSONParser.parse(writer.bytes)))
        #expect(read == splice)
        return splice
    }

    @Test(
        "a change is the bytes that are others",
        arguments: ["", "x", "é", "\u{1F600}", "long words"])
    func changes(insert: String) throws {
        let middle = Self.long.index(Self.long.startIndex, offsetBy: 700)
        let new = Self.long[..<middle] + insert + Self.long[middle...].dropFirst(3)
        let splice = try #require(try check(Self.long, String(new)))
        #expect(splice.insert.utf8.count <= insert.utf8.count + 3)
        for text in ["x" + Self.long, Self.long + "x", Self.long] {
            let splice = try #require(try check(Self.long, text))
            #expect(splice.insert.utf8.count <= 1)
        }
    }

    @Test("characters stay whole where their bytes begin alike")
    func characters() throws {
        let old = Self.long + "é" + Self.long
        for other in ["è", "ê", "\u{20AC}", "\u{1F600}"] {
            _ = try #require(try check(old, Self.long + other + Self.long))
            _ = try #require(try check(Self.long + other + Self.long, old))
        }
    }

    @Test("short texts, and others altogether, go whole")
    func whole() throws {
        #expect(try check("a", "b") == nil)
        #expect(try check("", Self.long) == nil)
        #expect(try check(Self.long, String(Self.long.reversed())) == nil)
    }

    @Test("a change of another text is none")
    func others() throws {
        let splice = try #require(try check(Self.long, Self.long + "x"))
        for other in ["", "x", Self.long + "y", String(Self.long.dropFirst())] {
            #expect(splice.applied(to: Array(other.utf8)) == nil)
        }
    }
}
