import RecordModel
import RecordWire
import Testing

@Suite("What a client reads") struct AnswerReadingTests {
    private static let record = """
        {"recordName":"n","recordType":"Note","recordChangeTag":"4f",
         "fields":{"title":{"value":"x","type":"STRING","isEncrypted":true,"modified":"0f-1"},
                   "far":{"value":{"a":1},"type":"GALAXY"},"n":{"value":2,"type":"INT64"}},
         "pluginFields":{},"deleted":false,
         "created":{"timestamp":1000,"userRecordName":"_a","deviceID":"7c"},
         "modified":{"timestamp":2000,"userRecordName":"_b","deviceID":"8d"},
         "zoneID":{"zoneName":"Work","ownerRecordName":"_a"},"parent":{"recordName":"p"},
         "share":{"recordName":"s","zoneID":{"zoneName":"Work"}},"shortGUID":"0Ab",
         "publicPermission":"NONE"}
        """

    @Test("all keys of a record arrive, with what nobody here knows as it came")
    func record() throws {
        let record = try RecordAnswer(try body(Self.record))
        #expect(record.name == "n")
        #expect(record.type == "Note")
        #expect(record.changeTag == "4f")
        #expect(record.fields.map(\.name) == ["title", "n"])
        #expect(record.fields.first?.isEncrypted == true)
        #expect(record.fields.first?.stamp == "0f-1")
        #expect(record.unknownFields.map(\.key) == ["far"])
        #expect(record.unknownFields.first?.value["type"]?.string == "GALAXY")
        #expect(record.created?.milliseconds == 1000)
        #expect(record.modified == StampAnswer(milliseconds: 2000, user: "_b", device: "8d"))
        #expect(record.zone == ZoneIdentifier(zone: "Work", owner: "_a"))
        #expect(record.parent == "p")
        #expect(record.share == "s")
        #expect(record.shortGUID == "0Ab")
        #expect(record.unknownKeys.map(\.key) == ["publicPermission"])
    }

    @Test("fields of every type are read as they were written")
    func fields() throws {
        var generator = FieldGenerator(seed: 7)
        for _ in 0..<200 {
            let stored = text(FieldsCodec.encode(generator.fields()))
            let json = """
                {"recordName":"n","recordType":"Note","recordChangeTag":"1","fields":\(stored)}
                """
            let record = try RecordAnswer(try body(json))
            #expect(record.fields == (try FieldsCodec.decode(Array(stored.utf8))))
            #expect(record.unknownFields.isEmpty)
        }
    }

    @Test("records, tombstones, errors and what is nothing of that stand beside each other")
    func items() throws {
        let answer = try RecordsAnswer(
            try body(
                """
                {"records":[\(Self.record),{"recordName":"d","deleted":true},
                  {"recordName":"f","serverErrorCode":"CONFLICT","reason":"taken","uuid":"u",
                   "serverRecord":\(Self.record)},
                  {"serverErrorCode":"THROTTLED","reason":"slow","retryAfter":30.5},
                  {"recordName":"\\u0001","recordType":"Note","recordChangeTag":"1"},7],
                 "syncToken":"t","continuationMarker":"m"}
                """))
        #expect(answer.syncToken == "t")
        #expect(answer.continuationMarker == "m")
        #expect(answer.items.count == 6)
        #expect(answer.items[0] == .record(try RecordAnswer(try body(Self.record))))
        #expect(answer.items[1] == .deleted("d"))
        guard case .failed(let name, let conflict) = answer.items[2],
            case .failed(nil, let throttle) = answer.items[3],
            case .unreadable = answer.items[4], case .unreadable = answer.items[5]
        else {
            Issue.record("\(answer.items)")
            return
        }
        #expect(name == "f")
        #expect(conflict.code == .conflict)
        #expect(conflict.requestID == "u")
        #expect(conflict.serverRecord?.name == "n")
        #expect(throttle.code == .throttled)
        #expect(throttle.retryAfter == 30.5)
    }

    @Test("a code that nobody here knows stays as it came")
    func unknownCode() throws {
        let error = try #require(
            try WireError(try body(#"{"serverErrorCode":"NEW_CODE","reason":"because"}"#)))
        #expect(error.code == nil)
        #expect(error.text == "NEW_CODE")
        #expect(try WireError(try body(#"{"reason":"because"}"#)) == nil)
    }

    @Test("each error that is written is read again", arguments: ServerErrorCode.allCases)
    func errors(_ code: ServerErrorCode) throws {
        let error = ServerError(
            code, "why", retryAfter: 3, redirectURL: "https://example.org/",
            serverRecord: JSONBytes(Array(Self.record.utf8)))
        let item = error.item(recordName: "n", requestID: "u")
        guard case .failed(let name, let read) = RecordItem(try body(printed(item))) else {
            Issue.record("no error")
            return
        }
        #expect(name == "n")
        #expect(read.code == code)
        #expect(read.reason == "why")
        #expect(read.retryAfter == 3)
        #expect(read.redirectURL == "https://example.org/")
        #expect(read.requestID == "u")
        #expect(read.serverRecord?.name == "n")
        let whole = try #require(try WireError(try body(text(error.body(requestID: "u")))))
        #expect(whole.code == code)
        #expect(whole.requestID == "u")
    }

    @Test("zones, stamps and tombstones are read as they were written")
    func pairs() throws {
        let zone = ZoneAnswer(
            ZoneIdentifier(zone: "Work", owner: "_a"), syncToken: "t", isAtomic: true,
            isDeleted: true, deletionReason: "PURGED")
        #expect(try ZoneAnswer(try body(printed(zone))) == zone)
        let stamp = StampAnswer(milliseconds: -5, user: "_a", device: "d")
        #expect(try StampAnswer(try body(printed(stamp))) == stamp)
        #expect(RecordItem(try body(printed(TombstoneAnswer("n")))) == .deleted("n"))
        let address = RecordAddress(
            zone: ZoneName("Z"), type: RecordTypeName("T"), name: RecordName("m"))
        #expect(
            RecordItem(try body(printed(TombstoneAnswer("n", movedTo: address))))
                == .deleted("n", movedTo: address))
        let departed = TombstoneAnswer("n", movedTo: address, changeTag: "4z")
        #expect(
            RecordItem(try body(printed(departed)))
                == .deleted("n", movedTo: address, changeTag: "4z"))
    }

    @Test("pages of feeds arrive, and a zone that failed stands beside them")
    func feeds() throws {
        let pages = try ZonePageItem.list(
            try body(
                """
                {"zones":[{"zoneID":{"zoneName":"A"},"records":[{"recordName":"d","deleted":true}],
                   "moreComing":true,"syncToken":"t","total":12},
                  {"zoneID":{"zoneName":"B"},"serverErrorCode":"CHANGE_TOKEN_EXPIRED",
                   "reason":"old"}]}
                """))
        guard case .page(let page) = pages[0], case .failed(let zone, let error) = pages[1] else {
            Issue.record("\(pages)")
            return
        }
        #expect(page.zone == ZoneIdentifier(zone: "A"))
        #expect(page.items == [.deleted("d")])
        #expect(page.moreComing && page.syncToken == "t" && page.total == 12)
        #expect(zone == ZoneIdentifier(zone: "B"))
        #expect(error.code == .changeTokenExpired)
        let database = try DatabaseChangesAnswer(
            try body(#"{"zones":[{"zoneID":{"zoneName":"A"}}],"metaSyncToken":"t"}"#))
        #expect(database.zones == [.zone(ZoneAnswer(ZoneIdentifier(zone: "A")))])
        #expect(database.syncToken == "t" && !database.moreComing)
    }

    @Test("an answer that lacks what it must have is refused with the place")
    func refused() {
        #expect(refusal { try RecordsAnswer(try body("{}")) }?.reason.contains("records") == true)
        #expect(
            refusal { try DatabaseChangesAnswer(try body(#"{"zones":[]}"#)) }?.reason
                .contains("syncToken") == true)
        #expect(
            refusal { try ZonePageItem.list(try body(#"{"zones":[{"records":[]}]}"#)) }?.reason
                .contains("zones[0]") == true)
    }

    @Test("where bytes go, and what they are then")
    func uploads() throws {
        let tokens = try UploadToken.list(
            try body(
                """
                {"tokens":[{"recordName":"n","fieldName":"f","url":"https://example.org/up"},
                  {"recordName":"m","fieldName":"f","serverErrorCode":"ACCESS_DENIED",
                   "reason":"no"}]}
                """))
        #expect(tokens.first == .url("n", "f", "https://example.org/up"))
        guard case .failed(let name, _, let error) = tokens[1] else {
            Issue.record("\(tokens)")
            return
        }
        #expect(name == "m")
        #expect(error.code == .accessDenied)
        let hash = SHA256.hash([1, 2, 3])
        var asset = WireAsset(fileChecksum: AssetChecksum.fileChecksum(hash), size: 3)
        asset.receipt = "r"
        #expect(try WireAsset(uploaded: try body(#"{"singleFile":\#(printed(asset))}"#)) == asset)
        #expect(asset.isOf(hash))
        #expect(!asset.isOf(SHA256.hash([1, 2])))
    }

    @Test("a notification says where to look")
    func notices() throws {
        #expect(
            try PushNotice(
                try body(#"{"ck":{"fet":{"sid":"s","zid":"Work","zoid":"_a","dbs":3}}}"#))
                == PushNotice(
                    scope: .shared, zone: ZoneIdentifier(zone: "Work", owner: "_a"),
                    subscriptionID: "s"))
        #expect(
            try PushNotice(try body(#"{"ck":{"met":{"sid":"s","dbs":2}}}"#))
                == PushNotice(scope: .private, subscriptionID: "s"))
        for unknown in [#"{"other":1}"#, #"{"ck":{"met":{"dbs":9}}}"#] {
            #expect(try PushNotice(try body(unknown)) == PushNotice(scope: nil))
        }
    }
}
