import RecordModel
import RecordWire
import Testing

@Suite("What a client sends") struct RequestWritingTests {
    @Test("a request that is written is read as the same request", arguments: RequestSample.all)
    func roundTrip(_ sample: RequestSample) throws {
        let request = try sample.read(try body(sample.text))
        let bytes = try #require(sample.write(request))
        #expect(try sample.read(try body(text(bytes))) == request)
    }

    @Test("what is usual is not sent")
    func usual() throws {
        let zone = #"{"zoneName":"Work","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        #expect(
            printed(LookupRequest(items: [.init(name: "n")], zone: ZoneIdentifier(zone: "Work")))
                == #"{"records":[{"recordName":"n"}],"zoneID":\#(zone)}"#)
        #expect(
            text(DatabaseChangesRequest(resultsLimit: 200).body()) == #"{"resultsLimit":200}"#)
    }

    @Test("the keys beyond Apple's stand in the body for who asks, and are read again")
    func feedKeys() throws {
        var keys = FeedKeys()
        keys.wantsTotal = true
        keys.wantsDeletionReason = true
        keys.hasExtendedLimits = true
        let bytes = DatabaseChangesRequest(syncToken: "t", resultsLimit: 2_000).body(keys)
        #expect(try FeedKeys(try body(text(bytes))) == keys)
        let plain = ZoneChangesRequest.body([])
        #expect(try FeedKeys(try body(text(plain))) == FeedKeys())
    }

    @Test("a parent that is taken away is sent as null, and an unchanged one not at all")
    func parents() {
        var record = RecordDictionary(name: "n")
        #expect(printed(record) == #"{"recordName":"n"}"#)
        record.parent = .cleared
        #expect(printed(record) == #"{"recordName":"n","parent":null}"#)
        record.parent = .record("p")
        #expect(printed(record) == #"{"recordName":"n","parent":{"recordName":"p"}}"#)
    }

    @Test("a malformed item is not sent")
    func malformed() {
        let error = ServerError(.badRequest, "no")
        let request = ModifyRequest(
            items: [.malformed(recordName: "n", error)], zone: .defaultZone)
        #expect(printed(request).contains(#""operations":[]"#))
    }
}
