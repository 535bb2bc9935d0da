import RecordModel
import Testing

@testable import RecordStore

/// The part of a text that this user wrote, where others have written the rest.
@Suite struct OwnWordsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        var foreign: [String] = []
        var isSame = true
        let own: String?
        init(_ text: String, _ foreign: [String], isSame: Bool = true, _ own: String?) {
            (self.text, self.foreign, self.isSame, self.own) = (text, foreign, isSame, own)
        }
        var testDescription: String { "\(text) beside \(foreign)\(isSame ? "" : " of another")" }
    }

    @Test(
        "others' values, lines and words go, and what is left is the user's own",
        arguments: [
            Case("", [], nil),
            Case("anything [", [], "anything ["),
            Case(#"{"a":1}"#, [#"{"a":2}"#], #"{"a":1}"#),
            // Members of the same record: each equal value is theirs.
            Case(#"{"a":1,"b":2}"#, [#"{"a":1}"#], "{\n  \"b\": 2\n}\n"),
            Case(#"{"a":1,"b":2}"#, [#"{"a":1}"#, #"{"b":2}"#], nil),
            Case(#"{"a":1,"$parent":"p"}"#, [#"{"a":1}"#], nil),
            // Of another record a value has to be distinctive.
            Case(
                #"{"a":1,"b":"short"}"#, [#"{"a":1,"b":"short"}"#], isSame: false,
                #"{"a":1,"b":"short"}"#),
            Case(
                #"{"a":1,"b":"quite long"}"#, [#"{"b":"quite long"}"#], isSame: false,
                "{\n  \"a\": 1\n}\n"),
            Case(
                #"{"a":1,"b":["x","quite long"]}"#, [#"{"b":["x","quite long"]}"#], isSame: false,
                "{\n  \"a\": 1\n}\n"),
            Case(
                #"{"a":1,"b":{"c":"quite long"}}"#, [#"{"b":{"c":"quite long"}}"#], isSame: false,
                "{\n  \"a\": 1\n}\n"),
            Case(#"{"b":"quite long"}"#, [#"{"c":"quite long"}"#], #"{"b":"quite long"}"#),
            // No JSON: lines, whatever the blanks and the comma, and quoted words.
            Case(
                "{\n  \"t\": \"theirs\",\n  mine\n", ["{\n\t\"t\": \"theirs\"\n}\n"], "  mine\n"),
            Case(
                "{\"t\":\"theirs\",\"u\":\"mine\"", [#"{"x":"theirs"}"#],
                "{\"t\":\"…\",\"u\":\"mine\"\n"),
            Case("see theirs twice: theirs", [#"{"x":{"y":["theirs"]}}"#], "see … twice: …\n"),
            Case("{ abc", [#"{"x":"abc"}"#], "{ abc"),
            Case("{ \"x\": \"line\\nfeed\"", [#"{"x":"line\nfeed"}"#], "{ \"x\": \"…\"\n"),
            Case("{ \"x\": \"theirs\" }}\n[]", [#"{"x":"theirs"}"#], "{ \"x\": \"…\" }}\n"),
            Case("théirs [", [#"{"x":"théirs"}"#], "… [\n"),
            // What cannot be read takes nothing away.
            Case("some words [", ["some words ["], "some words ["),
        ])
    func own(_ row: Case) {
        var words = OwnWords(Array(row.text.utf8))
        for text in row.foreign { words.remove(Array(text.utf8), isSame: row.isSame) }
        #expect(words.text.map { String(decoding: $0, as: UTF8.self) } == row.own)
        #expect(words.hasForeign == (row.own != row.text && !row.text.isEmpty))
    }
}
