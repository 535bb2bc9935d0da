import RecordModel
import Testing

@Suite("Printing a record")
struct PrintingTests {
    @Test("fields stand in the schema's order with 2 spaces and a final newline")
    func layout() {
        let fields = [
            RecordField(name: "new", value: .list([.string("é")])),
            RecordField(name: "b", value: .timestamp(milliseconds: 0)),
            RecordField(name: "a", value: .double(5)),
        ]
        let printed = RecordDocument.print(
            fields, parent: RecordName("p"), schema: schema(("a", .double), ("b", .timestamp)))
        #expect(
            text(printed) == """
                {
                  "$parent": "p",
                  "a": 5.0,
                  "b": {
                    "$timestamp": "1970-01-01T00:00:00.000Z"
                  },
                  "new": [
                    "é"
                  ]
                }

                """)
        #expect(text(RecordDocument.print([], parent: nil, schema: .empty)) == "{}\n")
    }

    @Test("what is printed reads back as the same values under any schema", arguments: 0..<8)
    func roundTrip(seed: UInt64) throws {
        var generator = FieldGenerator(seed: seed)
        for _ in 0..<200 {
            let fields = generator.fields()
            let printed = RecordDocument.print(fields, parent: RecordName("x"), schema: .empty)
            let record = try RecordDocument(parsing: printed, schema: .empty)
            #expect(record.fields == fields)
            #expect(record.parent == RecordName("x"))
            let adopted = RecordSchema.empty.adopting(record) ?? .empty
            let again = try RecordDocument(parsing: printed, schema: adopted)
            #expect(again.fields == fields)
            #expect(adopted.adopting(again) == nil)
        }
    }
}
