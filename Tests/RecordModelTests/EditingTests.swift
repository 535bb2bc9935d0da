import RecordModel
import Testing

@Suite("Changing values in a record's text")
struct EditingTests {
    private func edit(
        _ input: String, schema: RecordSchema = .empty, _ changes: [(FieldName, FieldValue?)],
        parent: RecordName?? = nil
    ) throws -> String {
        text(try document(input, schema).replacing(changes, parent: parent))
    }

    private let layout = """
        {
            "a" : 1.50 ,

            "b":"x",\t"c": [ 1,2 ],
          "d": {"$ref":"r"}
        }

        """

    @Test("only the bytes of the value are replaced")
    func replace() throws {
        #expect(
            try edit(layout, [("b", .string("neu\n"))])
                == layout.replacing("\"x\"", with: "\"neu\\n\""))
        #expect(try edit(layout, [("a", .double(2))]) == layout.replacing("1.50", with: "2.0"))
        #expect(
            try edit(layout, [("c", .list([.int64(3)]))])
                == layout.replacing("[ 1,2 ]", with: "[3]"))
    }

    @Test("a value that is there already keeps its spelling")
    func equalValue() throws {
        let changes: [(FieldName, FieldValue?)] = [
            ("a", .double(1.5)), ("b", .string("x")), ("c", .list([.int64(1), .int64(2)])),
            ("d", .reference(Reference(name: RecordName("r")))), ("gone", nil),
        ]
        #expect(try edit(layout, changes) == layout)
    }

    @Test("files of large fields get other names, and references stay as they are written")
    func files() throws {
        let input = """
            {"s": "a@p.jpg", "p": {"size" : 1, "$asset":"a@p.jpg"}, "l": [
              {"$asset": "a@l.0"}, {"$asset": "a@l.1"}]}
            """
        let names: [FieldName: [(old: Text, new: Text)]] = [
            "p": [("a@p.jpg", "longer@p.jpg")], "l": [("a@l.0", "b@l.0"), ("a@l.1", "b@l.1")],
        ]
        let renamed = try document(input).renamingFiles(names)
        #expect(
            renamed.map(text) == """
                {"s": "a@p.jpg", "p": {"size" : 1, "$asset":"longer@p.jpg"}, "l": [
                  {"$asset": "b@l.0"}, {"$asset": "b@l.1"}]}
                """)
        for other in [#"{"p": {"$asset": "\u0061@p.jpg"}}"#, #"{"p": {"$asset": "c@p.jpg"}}"#] {
            #expect(try document(other).renamingFiles(names) == nil)
        }
    }

    @Test("members are removed with one comma, wherever they stand")
    func remove() throws {
        let input = "{ \"a\": 1, \"b\": 2 , \"c\": 3 }"
        #expect(try edit(input, [("a", nil)]) == "{ \"b\": 2 , \"c\": 3 }")
        #expect(try edit(input, [("b", nil)]) == "{ \"a\": 1, \"c\": 3 }")
        #expect(try edit(input, [("c", nil)]) == "{ \"a\": 1, \"b\": 2 }")
        #expect(try edit(input, [("a", nil), ("b", nil)]) == "{ \"c\": 3 }")
        #expect(try edit(input, [("a", nil), ("c", nil)]) == "{ \"b\": 2 }")
        #expect(try edit(input, [("b", nil), ("c", nil)]) == "{ \"a\": 1 }")
        #expect(try edit(input, [("a", nil), ("b", nil), ("c", nil)]) == "{}")
    }

    @Test("new members go to the end in the document's own layout")
    func insert() throws {
        let new: [(FieldName, FieldValue?)] = [
            ("n", .int64(1)), ("m", .list([.string("x")])),
        ]
        #expect(
            try edit("{\n\t\"a\" : 1\n}\n", new)
                == "{\n\t\"a\" : 1,\n\t\"n\" : 1,\n\t\"m\" : [\n\t\t\"x\"\n\t]\n}\n")
        #expect(try edit("{\"a\":1}", new) == #"{"a":1,"n":1,"m":["x"]}"#)
        #expect(try edit("{\"a\": 1}", new) == #"{"a": 1, "n": 1, "m": ["x"]}"#)
        #expect(
            try edit("{\"a\": 1, \"b\": 2}\n", new)
                == "{\"a\": 1, \"b\": 2, \"n\": 1, \"m\": [\"x\"]}\n")
        #expect(
            try edit("{\r\n  \"a\": 1\r\n}", [("n", .int64(1))])
                == "{\r\n  \"a\": 1,\r\n  \"n\": 1\r\n}")
        #expect(try edit("{}\n", [("n", .int64(1))]) == "{\n  \"n\": 1\n}\n")
        #expect(try edit("\u{FEFF}{ }", [("n", .int64(1))]) == "\u{FEFF}{\n  \"n\": 1\n}")
    }

    @Test("all members can be exchanged for others")
    func exchange() throws {
        #expect(
            try edit("{\n  \"a\": 1,\n  \"b\": 2\n}\n", [("a", nil), ("b", nil), ("c", .int64(3))])
                == "{\n  \"c\": 3\n}\n")
        #expect(
            try edit("{\"a\":1,\"b\":2}", [("b", nil), ("c", .int64(3)), ("a", .int64(4))])
                == "{\"a\":4,\"c\":3}")
    }

    @Test("a null member takes a value in its place, and a plain form stays plain")
    func forms() throws {
        let known = schema(
            ("t", .timestamp), ("r", .reference), ("y", .bytes), ("d", .list(.timestamp)))
        let input =
            #"{"n": null, "t": "1970-01-01T00:00:00Z", "r": "a", "y": "AA==", "d": ["1970-01-01T00:00:00Z"]}"#
        let edited = try edit(
            input, schema: known,
            [
                ("n", .int64(1)), ("t", .timestamp(milliseconds: 1)), ("y", .bytes([1])),
                ("r", .reference(Reference(name: RecordName("b")))),
                ("d", .list([.timestamp(milliseconds: 2)])),
            ])
        #expect(
            edited
                == #"{"n": 1, "t": "1970-01-01T00:00:00.001Z", "r": "b", "y": "AQ==", "d": ["1970-01-01T00:00:00.002Z"]}"#
        )
        let tagged = try edit(
            #"{"t": {"$timestamp": "1970-01-01T00:00:00Z"}}"#, schema: known,
            [("t", .timestamp(milliseconds: 1))])
        #expect(tagged == #"{"t": {"$timestamp": "1970-01-01T00:00:00.001Z"}}"#)
        let acting = try edit(
            input, schema: known,
            [("r", .reference(Reference(name: RecordName("b"), action: .deleteSelf)))])
        let retyped = try edit(
            input, schema: known, [("t", .reference(Reference(name: RecordName("b"))))])
        #expect(retyped.contains(#""t": {"$ref": "b"}"#))
        #expect(acting.contains(#""r": {"$ref": "b", "action": "DELETE_SELF"}"#))
    }

    @Test("true and false stay words when they change")
    func booleans() throws {
        #expect(
            try edit(#"{"a":true,"b":false}"#, [("a", .int64(0)), ("b", .int64(1))])
                == #"{"a":false,"b":true}"#)
        #expect(try edit(#"{"a":true}"#, [("a", .int64(7))]) == #"{"a":7}"#)
    }

    @Test("the parent is set, changed and removed")
    func parent() throws {
        #expect(try edit(#"{"a": 1}"#, [], parent: RecordName("p")) == #"{"a": 1, "$parent": "p"}"#)
        let input = #"{"$parent": "p", "a": 1}"#
        #expect(try edit(input, [], parent: RecordName("q")) == #"{"$parent": "q", "a": 1}"#)
        #expect(try edit(input, [], parent: .some(nil)) == #"{"a": 1}"#)
        #expect(try edit(input, [], parent: RecordName("p")) == input)
    }

    @Test("an asset's name, size and hash are brought up to date")
    func assets() throws {
        let input = #"{"photo": {"$asset": "a@photo.png"}}"#
        let hash = SHA256.hash([1, 2])
        let asset = AssetValue(fileName: "a@photo.png", size: 2, sha256: hash)
        let edited = try edit(input, [("photo", .asset(asset))])
        #expect(
            edited
                == "{\"photo\": {\"$asset\": \"a@photo.png\", \"size\": 2, \"sha256\": \"\(hash)\"}}"
        )
        #expect(try document(edited)["photo"] == .asset(asset))
    }

    @Test("random changes touch no other byte and read back as made", arguments: 0..<6)
    func property(seed: UInt64) throws {
        var generator = FieldGenerator(seed: seed)
        for _ in 0..<150 {
            let fields = generator.fields()
            let layout = generator.layout(fields)
            let record = try RecordDocument(parsing: layout.text, schema: .empty)
            #expect(record.fields == fields, "\(text(layout.text))")
            let changes = generator.changes(to: fields)
            let edited = record.replacing(changes)
            let reread = try RecordDocument(parsing: edited, schema: .empty)
            var expected = fields
            for (name, value) in changes {
                let index = expected.firstIndex { $0.name == name }
                if let index, let value {
                    expected[index] = RecordField(name: name, value: value)
                } else if let index {
                    expected.remove(at: index)
                } else if let value {
                    expected.append(RecordField(name: name, value: value))
                }
            }
            #expect(reread.fields == expected, "\(text(layout.text)) -> \(text(edited))")
            // What was not changed is spelled as before.
            let changed = Set(changes.map(\.0))
            for (field, spelling) in zip(fields, layout.members)
            where !changed.contains(field.name) {
                #expect(contains(edited, spelling), "\(text(spelling)) in \(text(edited))")
            }
            #expect(record.replacing([]) == layout.text)
        }
    }

    private func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
        whole.indices.contains { whole[$0...].starts(with: part) }
    }
}

extension String {
    fileprivate func replacing(_ old: String, with new: String) -> String {
        guard let range = range(of: old) else { return self }
        return String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
    }

    private func range(of part: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) {
                return start..<index(start, offsetBy: part.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
