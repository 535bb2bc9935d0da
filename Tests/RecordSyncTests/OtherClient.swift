import Logging
import RecordModel
import RecordServerCore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// A program of the account that is no machine with a mount: it sends what a test says, no more.
struct OtherClient {
    let server: TestServer
    var zone = "Box"

    func send(
        _ operation: String, _ name: String, type: String = "Note", _ fields: JSONValue = [:],
        parent: String? = nil
    ) async throws {
        var record: [JSONMember] = [
            JSONMember(key: "recordName", value: JSONValue(name)),
            JSONMember(key: "recordType", value: JSONValue(type)),
            JSONMember(key: "fields", value: fields),
        ]
        if let parent {
            record.append(
                JSONMember(key: "parent", value: ["recordName": JSONValue(parent)]))
        }
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": JSONValue(zone)],
                "operations": [
                    ["operationType": JSONValue(operation), "record": .object(record)]
                ],
            ])
        try #require(
            answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
    }
}

extension Replica {
    /// Work of this machine that goes another way than over its wire.
    func exchange(over transport: any SyncTransport) -> Exchange {
        Exchange(
            store: store, transport: transport, database: database, settings: exchange.settings,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Work that is broken off by what happens on the way.
    func breakOff() async {
        await #expect(throws: SyncProblem.self) { try await self.exchange.round() }
    }
}
