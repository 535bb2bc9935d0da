import RecordModel
import RecordWire
import Testing

@Suite("Stored fields") struct FieldsCodecTests {
    @Test("random fields come back as they were", arguments: 0..<300)
    func roundTrip(_ seed: Int) throws {
        var generator = FieldGenerator(seed: UInt64(seed))
        let fields = generator.fields()
        let bytes = FieldsCodec.encode(fields)
        #expect(try FieldsCodec.decode(bytes) == fields)
        #expect(FieldsCodec.encode(try FieldsCodec.decode(bytes)) == bytes)
        #expect(try JSONParser.parse(bytes).serialized() == bytes, "not compact JSON")
    }

    @Test("fields without a value are not stored, of assets only checksum and size")
    func leftOut() throws {
        var asset = WireAsset(fileChecksum: Text(RequestSample.checksum), size: 3)
        asset.receipt = "secret"
        asset.wrappingKey = "secret"
        asset.downloadURL = "secret"
        let bytes = FieldsCodec.encode([
            WireField(name: "gone", value: nil, type: nil),
            WireField(name: "a", value: .asset(asset), type: .asset),
        ])
        #expect(
            text(bytes) == """
                {"a":{"value":{"fileChecksum":"\(RequestSample.checksum)","size":3},\
                "type":"ASSETID"}}
                """)
    }

    @Test("no fields are an empty object")
    func empty() throws {
        #expect(text(FieldsCodec.encode([])) == "{}")
        #expect(try FieldsCodec.decode(Array("{}".utf8)).isEmpty)
    }

    @Test(
        "damaged bytes are INTERNAL_ERROR without their content",
        arguments: ["", "{", "[]", "null", #"{"a":{"value":1,"type":"STRING"}}"#, #"{"a":1}"#])
    func damaged(_ stored: String) {
        let error = refusal { try FieldsCodec.decode(Array(stored.utf8)) }
        #expect(error?.code == .internalError)
        #expect(error?.reason.contains("STRING") == false)
    }

    @Test("every prefix of stored fields is refused, never half read")
    func truncated() throws {
        var generator = FieldGenerator(seed: 5)
        let bytes = FieldsCodec.encode(generator.fields())
        for length in 0..<bytes.count {
            #expect(refusal { try FieldsCodec.decode(Array(bytes.prefix(length))) } != nil)
        }
    }
}
