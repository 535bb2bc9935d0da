import RecordModel
import TestSupport
import Testing

@Suite struct DifferenceTests {
    private func lines(_ old: String, _ new: String) -> [LineDifference] {
        LineDifference.between(Array(old.utf8), Array(new.utf8))
    }

    @Test("both texts come back from their differences, whatever they are")
    func random() {
        var random = SeededRandom(seed: 36)
        for _ in 0..<500 {
            func text() -> String {
                let count = Int.random(in: 0...12, using: &random)
                let lines = (0..<count).map { _ in
                    ["a", "b", "c", ""].randomElement(using: &random) ?? ""
                }
                return lines.joined(separator: "\n")
            }
            let (old, new) = (text(), text())
            let found = lines(old, new)
            var (left, right): ([UInt8], [UInt8]) = ([], [])
            for line in found {
                switch line {
                case .same(let bytes): (left, right) = (left + bytes, right + bytes)
                case .removed(let bytes): left += bytes
                case .added(let bytes): right += bytes
                }
            }
            #expect(left == Array(old.utf8) && right == Array(new.utf8), "\(old) and \(new)")
            #expect(old != new || found.allSatisfy(\.isSame))
        }
    }

    @Test("a hunk has three lines around what differs, and their numbers as diff -u has them")
    func hunks() {
        let old = (1...20).map { "\($0)\n" }
        var new = old
        new[4] = "five\n"
        new.append("21\n")
        let hunks = LineHunk.all(in: lines(old.joined(), new.joined()))
        #expect(hunks.count == 2)
        #expect(hunks[0].old == (2, 7) && hunks[0].new == (2, 7))
        #expect(hunks[1].old == (18, 3) && hunks[1].new == (18, 4))
        let made = LineHunk.all(in: lines("", "a\nb\n"))
        #expect(made.count == 1 && made[0].old == (0, 0) && made[0].new == (1, 2))
        #expect(LineHunk.all(in: lines("a\n", "a\n")).isEmpty)
    }

    @Test("members differ by value, not by order or form")
    func members() throws {
        func between(_ old: String?, _ new: String?) -> [MemberDifference] {
            MemberDifference.between(old.map { Array($0.utf8) }, new.map { Array($0.utf8) })
        }
        #expect(between(#"{"a": 1, "b": {"x": 1, "y": 2}}"#, #"{"b":{"y":2,"x":1},"a":1}"#).isEmpty)
        let found = between(#"{"a": 1, "b/~": 2, "c": 3}"#, #"{"c": 4, "d": null}"#)
        #expect(found.map(\.name.description) == ["c", "d", "a", "b/~"])
        let patch = found.map { String(decoding: $0.patch.serialized(), as: UTF8.self) }
        #expect(
            patch == [
                #"{"op":"replace","path":"/c","value":4}"#,
                #"{"op":"add","path":"/d","value":null}"#,
                #"{"op":"remove","path":"/a"}"#, #"{"op":"remove","path":"/b~1~0"}"#,
            ])
        #expect(between(nil, #"{"a": 1}"#).map(\.new) == [.number(JSONNumber(1))])
        #expect(between(#"{"a": 1}"#, nil).map(\.new) == [nil])
    }
}
