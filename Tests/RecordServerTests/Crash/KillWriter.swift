import RecordModel
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// What a writer knows of a record that the server has acknowledged.
struct KillRecord: Sendable {
    var number: Int64
    var content: [UInt8]?
    var downloadURL: String?
}

/// Saves batches of new records; one that was not acknowledged is sent again with its operation
/// identifier until it is.
final class KillWriter: Sendable {
    private static let batch = 10
    private let number: Int
    private let access: KillAccess
    let acknowledged = Mutex<[String: KillRecord]>([:])

    init(number: Int, access: KillAccess) {
        self.number = number
        self.access = access
    }

    func run(_ server: KilledServer) throws {
        server.begin()
        defer { server.leave() }
        var turn: Int64 = 0
        var place = (port: 0, generation: 0)
        while !server.isEnding {
            let records = records(turn)
            // Sent again, a request is the same to the last byte: of one upload, too.
            var receipts: [String: JSONValue] = [:]
            var isDone = false
            while !isDone {
                if place.port == 0 { place = try server.next(after: place.generation) }
                if place.port == 0 { return }
                do {
                    let connection = try RawConnection(port: place.port)
                    try save(records, turn, &receipts, connection)
                    isDone = true
                } catch is RawHTTPError {
                    // The server was killed: what became of the batch is not known.
                    place.port = 0
                }
            }
            acknowledged.withLock { $0.merge(records) { _, new in new } }
            server.acknowledge()
            turn += 1
        }
    }

    private func records(_ turn: Int64) -> [String: KillRecord] {
        var records: [String: KillRecord] = [:]
        for index in 0..<Self.batch {
            records["w\(number)-\(turn)-\(index)"] = KillRecord(
                number: turn * 1000 + Int64(index), content: nil)
        }
        if turn % 4 == 0 {
            let name = "w\(number)-\(turn)-0"
            records[name]?.content = (0..<30_000).map {
                UInt8(truncatingIfNeeded: $0 &* 31 ^ Int(turn) ^ number)
            }
        }
        return records
    }

    private func save(
        _ records: [String: KillRecord], _ turn: Int64, _ receipts: inout [String: JSONValue],
        _ connection: RawConnection
    ) throws {
        var operations: [JSONValue] = []
        for (name, record) in records.sorted(by: { $0.key < $1.key }) {
            var fields: [JSONMember] = [
                JSONMember(
                    key: "number", value: ["value": JSONValue(record.number), "type": "INT64"])
            ]
            if let content = record.content {
                let value = try receipts[name] ?? upload(content, name, connection)
                receipts[name] = value
                fields.append(
                    JSONMember(key: "photo", value: ["value": value, "type": "ASSETID"]))
            }
            operations.append([
                "operationType": "create",
                "record": [
                    "recordName": JSONValue(name), "recordType": "Item", "fields": .object(fields),
                ],
            ])
        }
        let answer = try connection.call(
            access.target("records/modify"),
            [
                "zoneID": ["zoneName": "Killed"], "operations": .array(operations),
                "operationID": JSONValue("w\(number)-\(turn)"),
            ])
        guard answer["records"]?.array?.count == records.count,
            answer["records"]?.array?.allSatisfy({ $0["serverErrorCode"] == nil }) == true
        else {
            Issue.record("batch w\(number)-\(turn): \(answer)")
            throw KillFailure()
        }
    }

    private func upload(
        _ content: [UInt8], _ name: String, _ connection: RawConnection
    ) throws -> JSONValue {
        let tokens = try connection.call(
            access.target("assets/upload"),
            [
                "zoneID": ["zoneName": "Killed"],
                "tokens": [
                    ["recordName": JSONValue(name), "recordType": "Item", "fieldName": "photo"]
                ],
            ])
        let url = try #require(tokens["tokens"]?.array?.first?["url"]?.string?.string)
        let answer = try connection.post(KillAccess.target(url), content)
        return try #require(try JSONParser.parse(answer.body)["singleFile"])
    }
}

/// Not a connection that broke: the server did wrong.
struct KillFailure: Error {}

extension RawConnection {
    func post(_ target: String, _ body: [UInt8]) throws -> RawAnswer {
        let head =
            "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.count)\r\n\r\n"
        try send(Array(head.utf8) + body)
        guard let answer = try readAnswer() else { throw RawHTTPError("no answer") }
        guard answer.status == 200 else {
            Issue.record("\(answer.status): \(answer.text)")
            throw KillFailure()
        }
        return answer
    }

    func call(_ target: String, _ body: JSONValue) throws -> JSONValue {
        try JSONParser.parse(post(target, body.serialized()).body)
    }
}

/// Follows the feed of the zone page by page, over all kills.
final class KillReader: Sendable {
    private let access: KillAccess
    private let token = Mutex<JSONValue>(.null)
    let seen = Mutex<[String: KillRecord]>([:])
    /// Each record is made once and never changed: none may come twice.
    let repeated = Mutex<[String]>([])

    init(access: KillAccess) { self.access = access }

    func run(_ server: KilledServer) throws {
        server.begin()
        defer { server.leave() }
        var place = (port: 0, generation: 0)
        while !server.isEnding {
            if place.port == 0 { place = try server.next(after: place.generation) }
            if place.port == 0 { return }
            do {
                let connection = try RawConnection(port: place.port)
                while try readPage(connection), !server.isEnding {}
            } catch is RawHTTPError {
                place.port = 0
            }
        }
    }

    func readAll(port: Int) throws {
        let connection = try RawConnection(port: port)
        while try readPage(connection) {}
    }

    /// Whether more is coming. The token is kept only with the page that it ends.
    private func readPage(_ connection: RawConnection) throws -> Bool {
        let answer = try connection.call(
            access.target("changes/zone"),
            [
                "zones": [
                    ["zoneID": ["zoneName": "Killed"], "syncToken": token.withLock { $0 }]
                ]
            ])
        let page = try #require(answer["zones"]?.array?.first)
        let records = try #require(page["records"]?.array, "\(answer)")
        for record in records {
            let name = try #require(record["recordName"]?.string?.string)
            let number = try #require(record["fields"]?["number"]?["value"]?.int64)
            let url = record["fields"]?["photo"]?["value"]?["downloadURL"]?.string?.string
            let old = seen.withLock {
                $0.updateValue(
                    KillRecord(number: number, content: nil, downloadURL: url), forKey: name)
            }
            if old != nil { repeated.withLock { $0.append(name) } }
        }
        let next = try #require(page["syncToken"])
        token.withLock { $0 = next }
        return page["moreComing"]?.bool ?? false
    }
}
