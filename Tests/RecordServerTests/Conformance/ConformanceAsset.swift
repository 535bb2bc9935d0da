import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// The three steps of an upload, for rows that need an asset.
enum ConformanceAsset {
    /// The answer to assets/upload for one field `photo` of the zone of the row.
    static func token(
        _ s: ConformanceScene, _ record: String, on server: TestServer? = nil
    ) async throws -> TestServer.Answer {
        try await (server ?? s.server).call(
            .assetsUpload, .private,
            [
                "zoneID": s.zoneID,
                "tokens": [
                    [
                        "recordName": JSONValue(record), "recordType": JSONValue(s.type),
                        "fieldName": "photo",
                    ]
                ],
            ])
    }

    /// Brings bytes for `photo` of a record and gives the dictionary to save.
    static func upload(_ s: ConformanceScene, _ record: String, _ bytes: [UInt8]) async throws
        -> JSONValue
    {
        let answer = try await token(s, record)
        let url = try #require(answer.at("tokens.0.url").string, "\(answer.text)")
        let brought = try await s.server.request(
            .post, try AssetFixture.path(url), body: bytes)
        return try #require(brought.json["singleFile"], "\(brought.text)")
    }

    static func field(_ value: JSONValue) -> JSONValue { ["value": value, "type": "ASSETID"] }
}
