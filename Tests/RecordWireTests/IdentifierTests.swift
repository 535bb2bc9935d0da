import RecordModel
import RecordWire
import Testing

@Suite("Names and zones of requests") struct IdentifierTests {
    @Test("a zoneID names the default zone and the caller where it does not say")
    func zones() throws {
        func zone(_ json: String) throws -> ZoneIdentifier { try ZoneIdentifier(try body(json)) }
        #expect(try zone("{}") == .defaultZone)
        #expect(try zone(#"{"zoneName":"Z"}"#) == ZoneIdentifier(zone: "Z"))
        let owned = ZoneIdentifier(zone: "Z", owner: "_o")
        #expect(try zone(#"{"zoneName":"Z","ownerRecordName":"_o"}"#) == owned)
        #expect(try zone(#"{"zoneName":"Z","ownerName":"_o"}"#) == owned)
        #expect(try zone(#"{"zoneName":"Z","ownerName":"_o","ownerRecordName":"_o"}"#) == owned)
        #expect(
            try zone(#"{"zoneName":"Z","ownerRecordName":"__defaultOwner__"}"#)
                == ZoneIdentifier(zone: "Z"))
        #expect(
            try zone(#"{"zoneName":"Z","zoneType":"REGULAR_CUSTOM_ZONE","ownerName":null}"#)
                == ZoneIdentifier(zone: "Z"))
    }

    @Test(
        "a zoneID that is none is BAD_REQUEST",
        arguments: [
            #""Z""#, #"{"zoneName":""}"#, #"{"zoneName":"a\nb"}"#, #"{"zoneName":1}"#,
            #"{"zoneName":"Z","ownerName":"_a","ownerRecordName":"_b"}"#,
            #"{"zoneName":"Z","ownerRecordName":""}"#, #"{"zoneName":"Z","ownerName":"ä"}"#,
        ])
    func badZones(_ json: String) {
        #expect(refusal { try ZoneIdentifier(try body(json)) }?.code == .badRequest)
    }

    @Test("record names are 1 to 255 bytes of UTF-8 without control characters")
    func recordNames() throws {
        let longest = String(repeating: "n", count: 255)
        let ascii = ["n", "_user", "a b", "x/y", "'; DROP TABLE records; --", longest, "~", " "]
        for name in ascii + ["é", "日本語"] {
            let read = try RecordName(JSONReader(.string(Text(name))))
            #expect(read == RecordName(name))
            #expect(read.isDocumented == ascii.contains(name))
        }
        for name in ["", "a\nb", "a\u{7F}", longest + "n", longest + "é", "a\u{0}"] {
            #expect(refusal { try RecordName(JSONReader(.string(Text(name)))) } != nil, "\(name)")
        }
    }

    @Test("the share type is known in any case, other types are case-sensitive")
    func types() throws {
        for name in ["cloudkit.share", "cloudKit.share", "CLOUDKIT.SHARE", "cloudKit.shared"] {
            #expect(try RecordTypeName(JSONReader(JSONValue(name))) == .share)
        }
        #expect(try RecordTypeName(JSONReader("Note")) == "Note")
        #expect(try RecordTypeName(JSONReader("_pcs")) == "_pcs")
        for name in ["", "a.b", "1a", "a b", "cloudkit.other", String(repeating: "a", count: 256)] {
            #expect(refusal { try RecordTypeName(JSONReader(JSONValue(name))) } != nil, "\(name)")
        }
    }

    @Test("zones, tombstones and stamps are printed with Apple's keys")
    func answers() {
        let zone = ZoneIdentifier(zone: "Z", owner: "_o")
        let id = #"{"zoneName":"Z","ownerRecordName":"_o","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        #expect(printed(zone) == id)
        #expect(printed(ZoneIdentifier.defaultZone).contains(#""zoneType":"DEFAULT_ZONE""#))
        var answer = ZoneAnswer(zone, syncToken: "t", isAtomic: true)
        #expect(printed(answer) == #"{"zoneID":\#(id),"syncToken":"t","atomic":true}"#)
        answer.dialect = .iCloud
        #expect(printed(answer) == #"{"zoneID":\#(id),"syncToken":"t"}"#)
        let gone = ZoneAnswer(zone, isDeleted: true, deletionReason: "purged")
        #expect(
            printed(gone) == #"{"zoneID":\#(id),"deleted":true,"deletionReason":"purged"}"#)
        #expect(
            printed(TombstoneAnswer("n", zone: zone))
                == #"{"recordName":"n","deleted":true,"zoneID":\#(id)}"#)
        #expect(
            printed(StampAnswer(milliseconds: 5, user: "_u", device: "d"))
                == #"{"timestamp":5,"userRecordName":"_u","deviceID":"d"}"#)
    }

    @Test("a printed zoneID is read back as it was")
    func roundTrip() throws {
        for zone in [ZoneIdentifier(zone: "Z", owner: "_o"), ZoneIdentifier(zone: "a\"é")] {
            #expect(try ZoneIdentifier(try body(printed(zone))) == zone)
        }
    }
}
