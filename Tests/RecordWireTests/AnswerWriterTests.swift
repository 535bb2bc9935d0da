import RecordModel
import RecordWire
import Testing

@Suite("Printing answers") struct AnswerWriterTests {
    @Test("commas, nesting and absent members are as JSON wants them")
    func layout() throws {
        let bytes = AnswerWriter.object { answer in
            answer.member("a", 1)
            answer.member("none", Text?.none)
            answer.member(
                "list",
                array: { answer in
                    answer.value(true)
                    answer.object { _ in }
                    answer.array { answer in answer.value("x") }
                    answer.value(Int64.min)
                })
            answer.member("empty", [Text]())
            answer.member(
                "object",
                object: { answer in
                    answer.key(escaping: Array("k\"\n".utf8))
                    answer.value(1.5)
                })
            answer.member("tree", JSONValue.array([nil, 2]))
            answer.member("names", [RecordName("r"), RecordName("s")])
        }
        #expect(
            text(bytes) == #"""
                {"a":1,"list":[true,{},["x"],-9223372036854775808],"empty":[],\#
                "object":{"k\"\n":1.5},"tree":[null,2],"names":["r","s"]}
                """#)
        _ = try JSONParser.parse(bytes)
    }

    @Test("bytes that are not UTF-8 and doubles that JSON does not have leave the answer readable")
    func hostileBytes() throws {
        let bytes = AnswerWriter.object { answer in
            answer.member("name", RecordName(bytes: [0x61, 0xFF, 0x00, 0x22]))
            answer.member("nan", Double.nan)
        }
        let value = try JSONParser.parse(bytes)
        #expect(value["name"]?.string == "a\u{FFFD}\u{FFFD}\"")
        #expect(value["nan"] == .null)
    }

    @Test("what is JSON already is copied without a look inside")
    func splicing() {
        let stored = JSONBytes(Array("{not json \u{FFFD}".utf8))
        let bytes = AnswerWriter.object { answer in
            answer.member(
                "records",
                array: { answer in
                    for _ in 0..<2_000 { answer.value(stored) }
                })
        }
        let copies = Array(repeating: "{not json \u{FFFD}", count: 2_000).joined(separator: ",")
        #expect(text(bytes) == #"{"records":[\#(copies)]}"#)
    }

    @Test("a long answer is in parts, of which long values are themselves")
    func parts() throws {
        let long = Array("\"\(String(repeating: "x", count: 200_000))\"".utf8)
        func write(_ answer: inout AnswerWriter) {
            answer.object { answer in
                answer.member("first", 1)
                answer.key("values")
                answer.array { answer in
                    for number in 0..<30_000 { answer.value(number) }
                    answer.splice(long)
                    answer.splice(long)
                    answer.value("end")
                }
                answer.member("last", true)
            }
        }
        var writer = AnswerWriter()
        write(&writer)
        let answer = writer.answer
        #expect(answer.count == writer.count)
        #expect(answer.bytes == writer.bytes)
        #expect(answer.parts.filter { $0 == long }.count == 2)
        #expect(answer.parts.allSatisfy { $0 == long || $0.count < 80_000 })
        let value = try JSONParser.parse(answer.bytes)
        #expect(value["values"]?.array?.count == 30_003)
        #expect(value["last"] == true)
    }

    @Test(
        "what was printed since a place can be taken back, however long it is",
        arguments: [0, 10, 100_000], [0, 10, 100_000])
    func goingBack(before: Int, after: Int) throws {
        let (first, second) = (
            Array("\"a\"".utf8), Array("\"\(String(repeating: "b", count: 70_000))\"".utf8)
        )
        func write(_ count: Int, _ answer: inout AnswerWriter) {
            for number in 0..<count / 10 {
                answer.splice(number % 500 == 499 ? second : first)
            }
        }
        var plain = AnswerWriter()
        plain.array { answer in
            write(before, &answer)
            answer.value("kept")
        }
        var writer = AnswerWriter()
        writer.array { answer in
            write(before, &answer)
            let mark = answer.mark
            answer.object { answer in
                answer.key("gone")
                answer.array { answer in write(after, &answer) }
            }
            answer.goBack(to: mark)
            answer.value("kept")
        }
        #expect(writer.bytes == plain.bytes)
        #expect(writer.count == plain.count)
    }

    @Test("an error in the middle of an answer comes through")
    func failing() {
        let error = refusal {
            try AnswerWriter.object { (answer) throws(ServerError) in
                answer.member("a", 1)
                throw ServerError(.notFound, "gone")
            }
        }
        #expect(error?.code == .notFound)
    }
}
