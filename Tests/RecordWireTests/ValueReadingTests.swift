import RecordModel
import RecordWire
import Testing

@Suite("Values of requests") struct ValueReadingTests {
    static let location = Location(latitude: 48.5, longitude: -11)

    @Test(
        "each tag of the table is read as its type",
        arguments: [
            (#"{"type":"STRING","value":"é"}"#, FieldType.string, WireValue.string("é")),
            (#"{"type":"INT64","value":-5}"#, .int64, .int64(-5)),
            (#"{"type":"INT64","value":"9223372036854775807"}"#, .int64, .int64(.max)),
            (#"{"type":"INT64","value":true}"#, .int64, .int64(1)),
            (#"{"type":"NUMBER_INT64","value":5}"#, .int64, .int64(5)),
            (#"{"type":"DOUBLE","value":5}"#, .double, .double(5)),
            (#"{"type":"DOUBLE","value":"-2.5e3"}"#, .double, .double(-2500)),
            (#"{"type":"NUMBER_DOUBLE","value":1.5}"#, .double, .double(1.5)),
            (
                #"{"type":"TIMESTAMP","value":1767225600000}"#, .timestamp,
                .timestamp(milliseconds: 1_767_225_600_000)
            ),
            (
                #"{"type":"TIMESTAMP","value":-62135769600000}"#, .timestamp,
                .timestamp(milliseconds: -62_135_769_600_000)
            ),
            (#"{"type":"TIMESTAMP","value":1.5}"#, .timestamp, .timestamp(milliseconds: 2)),
            (#"{"type":"TIMESTAMP","value":-1.4}"#, .timestamp, .timestamp(milliseconds: -1)),
            (#"{"type":"BYTES","value":"AAECAw=="}"#, .bytes, .bytes([0, 1, 2, 3])),
            (#"{"type":"BYTES","value":""}"#, .bytes, .bytes([])),
            (
                #"{"type":"STRING_LIST","value":["a","b"]}"#, .list(.string),
                .list([.string("a"), .string("b")])
            ),
            (#"{"type":"INT64_LIST","value":[]}"#, .list(.int64), .list([])),
            (
                #"{"type":"DOUBLE_LIST","value":[1,2.5]}"#, .list(.double),
                .list([.double(1), .double(2.5)])
            ),
            (#"{"type":"BYTES_LIST","value":["AA=="]}"#, .list(.bytes), .list([.bytes([0])])),
            (
                #"{"type":"TIMESTAMP_LIST","value":[0]}"#, .list(.timestamp),
                .list([.timestamp(milliseconds: 0)])
            ),
            (#"{"type":"LIST","value":[1,2]}"#, .list(.int64), .list([.int64(1), .int64(2)])),
            (#"{"type":"UNKNOWN_LIST","value":["a"]}"#, .list(.string), .list([.string("a")])),
        ])
    func tags(_ json: String, _ type: FieldType, _ value: WireValue) throws {
        let field = try wireField(json)
        #expect(field.type == type)
        #expect(field.value == value)
        #expect(!field.isEncrypted)
    }

    @Test("references, locations and assets are read with all their keys, in lists, too")
    func objects() throws {
        let checksum = RequestSample.checksum
        let zone = ZoneIdentifier(zone: "Z", owner: "_o")
        let reference = #"{"recordName":"r","zoneID":{"zoneName":"Z","ownerName":"_o"},"action":"#
        for (action, value) in zip(["NONE", "DELETE_SELF", "VALIDATE"], Reference.Action.allCases) {
            let json = reference + "\"\(action)\"}"
            let expected = WireValue.reference(WireReference(name: "r", zone: zone, action: value))
            #expect(try wireField(#"{"type":"REFERENCE","value":\#(json)}"#).value == expected)
            let list = try wireField(#"{"type":"REFERENCE_LIST","value":[\#(json)]}"#)
            #expect(list.value == .list([expected]))
        }
        var place = try #require(Self.location)
        place.altitude = 1
        place.horizontalAccuracy = 2
        place.verticalAccuracy = 3
        place.speed = 4
        place.course = 5.5
        place.timestampMilliseconds = 6
        let full = """
            {"latitude":48.5,"longitude":-11,"altitude":1,"horizontalAccuracy":2,
             "verticalAccuracy":3,"speed":4,"course":5.5,"timestamp":5.9}
            """
        #expect(try wireField(#"{"type":"LOCATION","value":\#(full)}"#).value == .location(place))
        #expect(
            try wireField(#"{"type":"LOCATION_LIST","value":[\#(full)]}"#).value
                == .list([.location(place)]))
        var asset = WireAsset(fileChecksum: Text(checksum), size: 3)
        let bare = #"{"fileChecksum":"\#(checksum)","size":3}"#
        for tag in ["ASSET", "ASSETID"] {
            let single = try wireField(#"{"type":"\#(tag)","value":\#(bare)}"#)
            #expect(single.value == .asset(asset))
            #expect(single.type == .asset)
            let list = try wireField(#"{"type":"\#(tag)_LIST","value":[\#(bare)]}"#)
            #expect(list.type == .list(.asset))
        }
        asset.receipt = "c"
        asset.wrappingKey = "w"
        asset.referenceChecksum = "r"
        asset.downloadURL = "u"
        let whole = """
            {"fileChecksum":"\(checksum)","size":3,"receipt":"c","wrappingKey":"w",
             "referenceChecksum":"r","downloadURL":"u"}
            """
        #expect(try wireField(#"{"type":"ASSETID","value":\#(whole)}"#).value == .asset(asset))
    }

    @Test("encrypted values are marked, by their tag or by isEncrypted")
    func encrypted() throws {
        let bytes = try wireField(#"{"type":"ENCRYPTED_BYTES","value":"AA=="}"#)
        #expect(bytes.isEncrypted)
        #expect(bytes.type == .bytes)
        let text = try wireField(#"{"type":"STRING","value":"x","isEncrypted":true}"#)
        #expect(text.isEncrypted)
        #expect(text.type == .string)
        #expect(try !wireField(#"{"type":"STRING","value":"x","isEncrypted":false}"#).isEncrypted)
    }

    @Test(
        "a value without tag is read by its shape",
        arguments: [
            (#"{"value":"x"}"#, FieldType.string, WireValue.string("x")),
            (#"{"value":7}"#, .int64, .int64(7)),
            (#"{"value":7.0}"#, .double, .double(7)),
            (#"{"value":false}"#, .int64, .int64(0)),
            (#"{"value":[1,2.5]}"#, .list(.double), .list([.double(1), .double(2.5)])),
            (#"{"value":[2.5,1]}"#, .list(.double), .list([.double(2.5), .double(1)])),
            (#"{"value":["x"],"type":null}"#, .list(.string), .list([.string("x")])),
            (
                #"{"value":{"recordName":"r"}}"#, .reference,
                .reference(WireReference(name: "r"))
            ),
            (#"{"type":"NUMBER","value":7}"#, .int64, .int64(7)),
        ])
    func shapes(_ json: String, _ type: FieldType, _ value: WireValue) throws {
        let field = try wireField(json)
        #expect(field.type == type)
        #expect(field.value == value)
        #expect(!field.isTagged)
    }

    @Test("an empty list without a tag has no type yet, with one it keeps it")
    func emptyLists() throws {
        #expect(try wireField(#"{"value":[]}"#).type == nil)
        #expect(try wireField(#"{"type":"LIST","value":[]}"#).type == nil)
        #expect(try wireField(#"{"type":"STRING_LIST","value":[]}"#).type == .list(.string))
    }

    @Test(
        "null, or no value at all, clears the field",
        arguments: [#"{"value":null}"#, #"{"type":"STRING"}"#, "{}", #"{"type":"X","value":null}"#])
    func clearing(_ json: String) throws {
        if json.contains("X") {
            #expect(refusal { try wireField(json) }?.code == .badRequest)
            return
        }
        let field = try wireField(json)
        #expect(field.value == nil)
        #expect(field.type == nil)
    }

    @Test(
        "what does not fit its tag is BAD_REQUEST",
        arguments: [
            #"{"type":"STRING","value":1}"#, #"{"type":"INT64","value":1.0}"#,
            #"{"type":"INT64","value":"1.5"}"#, #"{"type":"INT64","value":"9223372036854775808"}"#,
            #"{"type":"INT64","value":""}"#, #"{"type":"INT64","value":"+1"}"#,
            #"{"type":"INT64","value":" 1"}"#,
            #"{"type":"DOUBLE","value":"NaN"}"#, #"{"type":"DOUBLE","value":"0x10"}"#,
            #"{"type":"DOUBLE","value":"1e999"}"#, #"{"type":"DOUBLE","value":true}"#,
            #"{"type":"TIMESTAMP","value":"2026-01-01T00:00:00Z"}"#,
            #"{"type":"TIMESTAMP","value":253402300800000}"#,
            #"{"type":"TIMESTAMP","value":-62167219200001}"#,
            #"{"type":"TIMESTAMP","value":1e300}"#, #"{"type":"TIMESTAMP","value":true}"#,
            #"{"type":"BYTES","value":"AAECAw"}"#, #"{"type":"BYTES","value":"AA\n=="}"#,
            #"{"type":"BYTES","value":"AB=="}"#, #"{"type":"BYTES","value":[0]}"#,
            #"{"type":"LOCATION","value":{"latitude":90.1,"longitude":0}}"#,
            #"{"type":"LOCATION","value":{"latitude":0,"longitude":-180.1}}"#,
            #"{"type":"LOCATION","value":{"latitude":0}}"#,
            #"{"type":"LOCATION","value":{"latitude":"0","longitude":0}}"#,
            #"{"type":"REFERENCE","value":"r"}"#, #"{"type":"REFERENCE","value":{}}"#,
            #"{"type":"REFERENCE","value":{"recordName":""}}"#,
            #"{"type":"REFERENCE","value":{"recordName":"r","action":"DELETE"}}"#,
            #"{"type":"ASSETID","value":{"size":1}}"#,
            #"{"type":"ASSETID","value":{"fileChecksum":"../../etc/passwd","size":1}}"#,
            #"{"type":"ASSETID","value":{"fileChecksum":"AgAAAAAAAAAAAAAAAAAAAAAAAAAA","size":1}}"#,
            #"{"type":"ASSETID","value":{"fileChecksum":"AQAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#,
            #"{"type":"ASSETID","value":{"fileChecksum":"AQAAAAAAAAAAAAAAAAAAAAAAAAAA","size":-1}}"#,
            #"{"type":"STRING_LIST","value":"x"}"#, #"{"type":"STRING_LIST","value":["x",1]}"#,
            #"{"type":"STRING_LIST","value":["x",null]}"#, #"{"type":"STRING","value":["x"]}"#,
            #"{"type":"LIST","value":"x"}"#, #"{"type":"LIST","value":["x",1]}"#,
            #"{"type":"NUMBER","value":"x"}"#, #"{"type":"BOOLEAN","value":true}"#,
            #"{"type":"string","value":"x"}"#, #"{"type":1,"value":"x"}"#,
            #"{"value":["x",1]}"#, #"{"value":[[1]]}"#, #"{"value":[null]}"#, #"{"value":{}}"#,
            #"{"value":{"latitude":1}}"#, #""x""#, "1", "null", "[]",
            #"{"value":"x","isEncrypted":1}"#, #"{"value":"x","modified":1}"#,
        ])
    func refused(_ json: String) {
        #expect(refusal { try wireField(json) }?.code == .badRequest)
    }

    @Test("the stamp of a write is kept up to 256 bytes")
    func stamps() throws {
        let stamp = String(repeating: "s", count: 256)
        #expect(try wireField(#"{"value":1,"modified":"\#(stamp)"}"#).stamp == Text(stamp))
        #expect(refusal { try wireField(#"{"value":1,"modified":"\#(stamp)s"}"#) } != nil)
        #expect(refusal { try wireField(#"{"value":1,"modified":""}"#) } != nil)
    }

    @Test("strict reading refuses fractions of milliseconds and references without action")
    func strict() throws {
        let fraction = #"{"type":"TIMESTAMP","value":1.5}"#
        #expect(refusal { try wireField(fraction, isStrict: true) }?.code == .badRequest)
        let place = #"{"type":"LOCATION","value":{"latitude":1,"longitude":1,"timestamp":1.5}}"#
        #expect(refusal { try wireField(place, isStrict: true) }?.code == .badRequest)
        let reference = #"{"type":"REFERENCE","value":{"recordName":"r"}}"#
        #expect(refusal { try wireField(reference, isStrict: true) }?.code == .badRequest)
        _ = try wireField(reference, isStrict: true, isInQuery: true)
        _ = try wireField(reference)
    }

    @Test("reasons do not repeat the content of a record")
    func silence() {
        let secret = "tiger-moth"
        for json in [
            #"{"type":"INT64","value":"\#(secret)"}"#, #"{"type":"BYTES","value":"\#(secret)"}"#,
            #"{"type":"TIMESTAMP","value":"\#(secret)"}"#,
            #"{"type":"REFERENCE","value":"\#(secret)"}"#,
        ] {
            #expect(refusal { try wireField(json) }?.reason.contains(secret) == false)
        }
    }
}
