import RecordModel
import RecordObjects
import Testing

/// Models that somebody has made to do harm, and models that mean nothing.
@Suite
struct HostileModelTests {
    @Test("a text that declares entities is refused before they expand")
    func expansion() {
        var text = "<!DOCTYPE model [<!ENTITY a0 \"aaaaaaaaaa\">"
        for level in 1...12 {
            let inner = String(repeating: "&a\(level - 1);", count: 10)
            text += "<!ENTITY a\(level) \"\(inner)\">"
        }
        text += "]><model><entity name=\"&a12;\"/></model>"
        #expect(refusal(of: text)?.contains("declares entities") == true)
    }

    @Test("nothing outside of the text is read")
    func outside() {
        let text = """
            <!DOCTYPE model [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <model><entity name="&x;"/></model>
            """
        #expect(refusal(of: text)?.contains("declares entities") == true)
    }

    @Test("deep elements and texts that end too soon are refused with their place")
    func shape() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(refusal(of: deep)?.contains("more than 32 deep") == true)
        #expect(refusal(of: "<model>\n<entity")?.hasPrefix("line 2, ") == true)
        #expect(refusal(of: "<model/><model/>")?.contains("not well-formed") == true)
        #expect(refusal(of: "<") != nil)
        #expect(refusal(of: "") != nil)
    }

    @Test("a text that is too large is refused whole, in both forms, also when a model would fit")
    func size() throws {
        let spaces = [UInt8](repeating: 0x20, count: ModelText.bytesMax)
        for text in ["{}", "<model/>"] {
            let fitting = Array(text.utf8) + spaces.dropLast(text.utf8.count)
            #expect(try ModelText.parse(fitting).entities.isEmpty)
            let message = message { () throws(RecordError) in
                _ = try ModelText.parse(fitting + [0x20])
            }
            #expect(message?.contains("larger than 16 MiB") == true)
        }
    }

    @Test("a model with too many entities is refused; the largest number is read")
    func entities() throws {
        let most = (0..<ModelConsistency.entitiesMax).map { Entity(name: "E\($0)") }
        let text = try XMLModelWriter.print(ObjectModel(entities: most))
        #expect(try ModelText.parse(text).entities.count == most.count)
        let more = try XMLModelWriter.print(ObjectModel(entities: most + [Entity(name: "More")]))
        #expect(throws: RecordError.self) { try ModelText.parse(more) }
    }

    @Test(
        "what a model cannot mean is named",
        arguments: [
            ([Entity(name: "A", parent: "B"), Entity(name: "B", parent: "A")], "A: its parents"),
            ([Entity(name: "A", parent: "A")], "A: its parents form a circle"),
            ([Entity(name: "A", parent: "B")], "there is no entity \"B\", its parent"),
            ([Entity(name: "A"), Entity(name: "A")], "A: the name is used twice"),
            ([Entity(name: "../../etc/passwd")], "\"../../etc/passwd\" is no name"),
            ([Entity(name: "")], "\"\" is no name"),
            ([Entity(name: String(repeating: "A", count: 245))], "at most 244 bytes"),
            (
                [Entity(name: "A", attributes: [.init(name: "b/c", type: .string)])],
                "\"b/c\" is no name"
            ),
            (
                [
                    Entity(name: "A", attributes: [.init(name: "b", type: .string)]),
                    Entity(name: "B", parent: "A", attributes: [.init(name: "b", type: .date)]),
                ], "B: the property \"b\" is there twice"
            ),
            (
                [Entity(name: "A", relationships: [.init(name: "b", destination: "C")])],
                "A.b: there is no entity \"C\""
            ),
            (
                [
                    Entity(
                        name: "A", relationships: [.init(name: "b", destination: "A", inverse: "c")]
                    )
                ],
                "A.b: its inverse \"c\" is no relationship of A"
            ),
            (
                [
                    Entity(
                        name: "A", relationships: [.init(name: "b", destination: "B", inverse: "c")]
                    ),
                    Entity(
                        name: "B", relationships: [.init(name: "c", destination: "B", inverse: "c")]
                    ),
                ], "A.b: its inverse B.c has another inverse, \"c\""
            ),
            ([Entity(name: "A\u{1B}[2J")], #""A\u{1B}[2J" is no name"#),
            (
                [
                    Entity(
                        name: "A",
                        userInfo: [.init(key: "k", value: "1"), .init(key: "k", value: "2")])
                ],
                "A: the userInfo key \"k\" is there twice"
            ),
            (
                [
                    Entity(
                        name: "A",
                        indexes: [.init(name: "i", parts: []), .init(name: "i", parts: [])])
                ],
                "A: the index \"i\" is there twice"
            ),
            (
                [Entity(name: "A", indexes: [.init(name: "i", parts: [.init(property: "p")])])],
                "A: the index \"i\" names \"p\", which is no property"
            ),
            ([Entity(name: "A", uniquenessConstraints: [["b"]])], "names \"b\""),
        ] as [([Entity], String)])
    func inconsistent(entities: [Entity], expected: String) {
        let message = message { () throws(RecordError) in
            try ModelConsistency.check(ObjectModel(entities: entities))
        }
        #expect(message?.contains(expected) == true, "\(message ?? "no error")")
    }

    @Test("a chain of parents may be as long as the limit, and not longer")
    func depth() throws {
        let chain = (0...ModelConsistency.depthMax).map {
            Entity(name: "E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)")
        }
        try ModelConsistency.check(ObjectModel(entities: chain))
        let longer = chain + [Entity(name: "Last", parent: "E\(chain.count - 1)")]
        #expect(throws: RecordError.self) {
            try ModelConsistency.check(ObjectModel(entities: longer))
        }
    }

    private func refusal(of text: String) -> String? {
        message { () throws(RecordError) in _ = try XMLModelReader.read(Array(text.utf8)) }
    }
}
