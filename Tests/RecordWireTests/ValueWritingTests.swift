import RecordModel
import RecordWire
import Testing

@Suite("Values of answers") struct ValueWritingTests {
    @Test(
        "each type has its response tag, scalar and list",
        arguments: [
            (FieldType.string, "STRING"), (.int64, "INT64"), (.double, "DOUBLE"),
            (.timestamp, "TIMESTAMP"), (.bytes, "BYTES"), (.location, "LOCATION"),
            (.reference, "REFERENCE"), (.asset, "ASSETID"), (.json, "STRING"),
        ])
    func tags(_ type: FieldType, _ tag: String) {
        #expect(type.wireTag == tag)
        #expect(FieldType.list(type).wireTag == tag + "_LIST")
        let empty = WireField(name: "f", value: .list([]), type: .list(type))
        #expect(printed(empty) == #"{"value":[],"type":"\#(tag)_LIST"}"#)
    }

    @Test(
        "each value has its JSON form",
        arguments: [
            (WireValue.string("a\"\u{8}é"), #"{"value":"a\"\bé","type":"STRING"}"#),
            (.int64(.min), #"{"value":-9223372036854775808,"type":"INT64"}"#),
            (.double(1), #"{"value":1.0,"type":"DOUBLE"}"#),
            (.double(-0.0), #"{"value":-0.0,"type":"DOUBLE"}"#),
            (.timestamp(milliseconds: -1), #"{"value":-1,"type":"TIMESTAMP"}"#),
            (.bytes([0, 1, 2, 3]), #"{"value":"AAECAw==","type":"BYTES"}"#),
            (.list([.string("a"), .string("b")]), #"{"value":["a","b"],"type":"STRING_LIST"}"#),
        ])
    func values(_ value: WireValue, _ json: String) {
        #expect(printed(WireField(name: "f", value: value, type: value.impliedType)) == json)
    }

    @Test("locations, references and assets are printed with the keys that they have")
    func objects() throws {
        var place = try #require(Location(latitude: 48.5, longitude: -11))
        #expect(printed(place) == #"{"latitude":48.5,"longitude":-11.0}"#)
        place.timestampMilliseconds = 7
        place.speed = 2
        #expect(printed(place).hasSuffix(#","speed":2.0,"timestamp":7}"#))
        let zone = ZoneIdentifier(zone: "Z", owner: "_o")
        #expect(
            printed(WireReference(name: "r", zone: zone, action: .deleteSelf))
                == #"{"recordName":"r","action":"DELETE_SELF","zoneID":\#(printed(zone))}"#)
        var asset = WireAsset(fileChecksum: "c", size: 3)
        #expect(printed(asset) == #"{"fileChecksum":"c","size":3}"#)
        asset.receipt = "rc"
        asset.wrappingKey = "w"
        asset.referenceChecksum = "rf"
        asset.downloadURL = "u"
        #expect(
            printed(asset) == """
                {"fileChecksum":"c","size":3,"referenceChecksum":"rf","wrappingKey":"w",\
                "receipt":"rc","downloadURL":"u"}
                """)
    }

    @Test("encrypted bytes are ENCRYPTED_BYTES, other encrypted values are marked")
    func encrypted() {
        let bytes = WireField(name: "f", value: .bytes([0]), type: .bytes, isEncrypted: true)
        #expect(printed(bytes) == #"{"value":"AA==","type":"ENCRYPTED_BYTES","isEncrypted":true}"#)
        let text = WireField(name: "f", value: .string("x"), type: .string, isEncrypted: true)
        #expect(printed(text) == #"{"value":"x","type":"STRING","isEncrypted":true}"#)
    }

    @Test("a stamp is printed as modified, an unknown empty list as UNKNOWN_LIST, null as null")
    func marks() {
        let stamped = WireField(name: "f", value: .int64(1), type: .int64, stamp: "s")
        #expect(printed(stamped) == #"{"value":1,"type":"INT64","modified":"s"}"#)
        let empty = WireField(name: "f", value: .list([]), type: nil)
        #expect(printed(empty) == #"{"value":[],"type":"UNKNOWN_LIST"}"#)
        #expect(printed(WireField(name: "f", value: nil, type: nil)) == #"{"value":null}"#)
    }

    @Test("numbersAsStrings quotes INT64, plain list tags are LIST")
    func options() {
        func print(_ field: WireField, _ options: ValueOptions) -> String {
            var answer = AnswerWriter()
            field.write(to: &answer, options: options)
            return text(answer.bytes)
        }
        let list = WireField(name: "f", value: .list([.int64(1), .int64(2)]), type: .list(.int64))
        let quoted = ValueOptions(numbersAsStrings: true)
        #expect(print(list, quoted) == #"{"value":["1","2"],"type":"INT64_LIST"}"#)
        let plain = ValueOptions(plainListTags: true)
        #expect(print(list, plain) == #"{"value":[1,2],"type":"LIST"}"#)
        let double = WireField(name: "f", value: .double(1.5), type: .double)
        #expect(print(double, quoted) == #"{"value":1.5,"type":"DOUBLE"}"#)
        #expect(print(double, plain) == #"{"value":1.5,"type":"DOUBLE"}"#)
    }
}
