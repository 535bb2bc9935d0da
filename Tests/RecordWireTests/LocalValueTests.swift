import RecordModel
import RecordWire
import Testing

@Suite("Local values on the wire") struct LocalValueTests {
    private static let hash = SHA256.hash([1, 2, 3])
    private static let photo = AssetValue(fileName: "n@photo.jpg", size: 3, sha256: hash)

    private static func stored(_ local: AssetValue, _ index: Int?) -> WireAsset? {
        local.sha256.map {
            WireAsset(fileChecksum: AssetChecksum.fileChecksum($0), size: local.size ?? 0)
        }
    }

    private static let values: [FieldValue] = [
        .string("é"), .int64(.min), .double(0.1), .timestamp(milliseconds: -1), .bytes([0, 255]),
        .reference(Reference(name: "r", zone: "Other", action: .deleteSelf)),
        .reference(Reference(name: "r")), .asset(photo), .list([]),
        .list([.string("a"), .string("b")]), .list([.asset(photo)]),
    ]

    @Test("each value comes back from the wire as it was", arguments: values)
    func roundTrip(_ value: FieldValue) throws {
        let sent = try #require(WireValue(value, asset: Self.stored))
        #expect(FieldValue(sent, asset: { _, _ in Self.photo }) == value)
    }

    @Test("a value counts the same here and on the wire", arguments: values)
    func size(_ value: FieldValue) throws {
        let sent = try #require(WireValue(value, asset: Self.stored))
        #expect(sent.countedBytes == value.countedBytes)
    }

    @Test("a place comes back with all that is known of it")
    func location() throws {
        var place = try #require(Location(latitude: 1.5, longitude: -2))
        place.altitude = 3
        place.timestampMilliseconds = 4
        let sent = try #require(WireValue(.location(place), asset: Self.stored))
        #expect(FieldValue(sent, asset: { _, _ in Self.photo }) == .location(place))
    }

    @Test("nested JSON is a text on the wire, and JSON again where the schema says so")
    func nested() throws {
        let value = FieldValue.json(["a": [1, true], "b": .null])
        let sent = try #require(WireValue(value, asset: Self.stored))
        #expect(sent == .string(#"{"a":[1,true],"b":null}"#))
        #expect(sent.countedBytes == value.countedBytes)
        #expect(FieldValue(sent, isJSON: true, asset: { _, _ in Self.photo }) == value)
        #expect(
            FieldValue(.string("{"), isJSON: true, asset: { _, _ in Self.photo }) == .string("{"))
    }

    @Test("an asset that the server does not have yet cannot be sent, nor a list with it")
    func unknownAsset() {
        let new = AssetValue(fileName: "n@photo.jpg")
        #expect(WireValue(.asset(new), asset: Self.stored) == nil)
        #expect(WireValue(.list([.asset(Self.photo), .asset(new)]), asset: Self.stored) == nil)
    }
}
