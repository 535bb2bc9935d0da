import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Short forms of requests about records, for tests.
extension TestServer {
    /// A zone dictionary; of oneself without an owner.
    static func zone(_ name: String, of owner: Person? = nil) -> JSONValue {
        guard let owner = owner?.user else { return ["zoneName": JSONValue(name)] }
        return [
            "zoneName": JSONValue(name), "ownerRecordName": .string(Text(utf8: owner.bytes)),
        ]
    }

    @discardableResult
    func makeZone(_ name: String, as person: Person = .alice) async throws -> Answer {
        try await call(
            .zonesModify, .private, as: person,
            ["operations": [["operationType": "create", "zone": ["zoneID": Self.zone(name)]]]])
    }

    @discardableResult
    func deleteZone(
        _ name: String, of owner: Person? = nil, scope: DatabaseScope = .private,
        as person: Person = .alice
    ) async throws -> Answer {
        try await call(
            .zonesModify, scope, as: person,
            [
                "operations": [
                    ["operationType": "delete", "zone": ["zoneID": Self.zone(name, of: owner)]]
                ]
            ])
    }

    /// records/modify in a zone; in somebody's zone with `owner`, through the shared database.
    @discardableResult
    func modify(
        _ zone: String?, of owner: Person? = nil, scope: DatabaseScope? = nil,
        as person: Person = .alice, atomic: Bool? = nil, operationID: String? = nil,
        _ operations: JSONValue...
    ) async throws -> Answer {
        var body: [JSONMember] = [JSONMember(key: "operations", value: .array(operations))]
        if let zone { body.append(JSONMember(key: "zoneID", value: Self.zone(zone, of: owner))) }
        if let atomic { body.append(JSONMember(key: "atomic", value: .bool(atomic))) }
        if let operationID {
            body.append(JSONMember(key: "operationID", value: JSONValue(operationID)))
        }
        return try await call(
            .recordsModify, scope ?? (owner == nil ? .private : .shared), as: person, .object(body))
    }

    /// records/lookup.
    func lookup(
        _ zone: String?, of owner: Person? = nil, scope: DatabaseScope? = nil,
        as person: Person = .alice, _ names: String...
    ) async throws -> Answer {
        var body: [JSONMember] = [
            JSONMember(
                key: "records", value: .array(names.map { ["recordName": JSONValue($0)] }))
        ]
        if let zone { body.append(JSONMember(key: "zoneID", value: Self.zone(zone, of: owner))) }
        return try await call(
            .recordsLookup, scope ?? (owner == nil ? .private : .shared), as: person, .object(body))
    }

    /// One page of changes/zone for one zone.
    func changes(
        _ zone: String, of owner: Person? = nil, as person: Person = .alice, since: Text? = nil,
        limit: Int64? = nil, _ extra: JSONValue = [:]
    ) async throws -> Feed {
        var request: [JSONMember] = [
            JSONMember(key: "zoneID", value: Self.zone(zone, of: owner))
        ]
        if let since { request.append(JSONMember(key: "syncToken", value: .string(since))) }
        if let limit { request.append(JSONMember(key: "resultsLimit", value: JSONValue(limit))) }
        let body: JSONValue = .object(
            [JSONMember(key: "zones", value: [.object(request)])] + (extra.object ?? []))
        let answer = try await call(
            .changesZone, owner == nil ? .private : .shared, as: person, body)
        return Feed(json: answer.json["zones"]?.array?.first ?? answer.json)
    }

    /// All pages of changes/zone since a token.
    func allChanges(
        _ zone: String, of owner: Person? = nil, as person: Person = .alice, since: Text? = nil,
        limit: Int64? = nil
    ) async throws -> Feed {
        var feed = try await changes(zone, of: owner, as: person, since: since, limit: limit)
        var records = feed.records
        while feed.moreComing {
            feed = try await changes(
                zone, of: owner, as: person, since: feed.token, limit: limit)
            records += feed.records
        }
        feed.records = records
        return feed
    }
}

/// A page of a zone's feed, or the error in its place.
struct Feed: Sendable {
    let json: JSONValue
    var records: [JSONValue]

    init(json: JSONValue) {
        self.json = json
        records = json["records"]?.array ?? []
    }

    var token: Text? { json["syncToken"]?.string }
    var moreComing: Bool { json["moreComing"]?.bool ?? false }
    var code: String? { json["serverErrorCode"]?.string?.string }
    /// In order; a minus before what is gone.
    var names: [String] {
        records.map { record in
            let name = record["recordName"]?.string?.string ?? "?"
            return record["deleted"]?.bool == true ? "-" + name : name
        }
    }
}

extension TestServer.Answer {
    var records: [JSONValue] { json["records"]?.array ?? [] }

    /// For each item `saved`, `deleted` or its error code; for a failed request its code.
    var results: [String] {
        guard let items = json["records"]?.array else { return [code ?? "status \(status)"] }
        return items.map { item in
            item["serverErrorCode"]?.string?.string
                ?? (item["deleted"]?.bool == true ? "deleted" : "saved")
        }
    }

    var reasons: [String] { records.compactMap { $0["reason"]?.string?.string } }

    /// The change tag of an item.
    func tag(_ index: Int = 0) -> String {
        guard index < records.count else { return "" }
        return records[index]["recordChangeTag"]?.string?.string ?? ""
    }
}

/// One operation of records/modify.
func operation(
    _ type: String, _ name: String?, type recordType: String? = "Note",
    _ fields: JSONValue? = nil, tag: String? = nil, parent: String? = nil,
    _ extra: JSONValue = [:]
) -> JSONValue {
    var record: [JSONMember] = []
    if let name { record.append(JSONMember(key: "recordName", value: JSONValue(name))) }
    if let recordType { record.append(JSONMember(key: "recordType", value: JSONValue(recordType))) }
    if let tag { record.append(JSONMember(key: "recordChangeTag", value: JSONValue(tag))) }
    if let fields { record.append(JSONMember(key: "fields", value: fields)) }
    if let parent {
        record.append(JSONMember(key: "parent", value: ["recordName": JSONValue(parent)]))
    }
    return ["operationType": JSONValue(type), "record": .object(record + (extra.object ?? []))]
}

func create(
    _ name: String?, type: String = "Note", _ fields: JSONValue? = nil, parent: String? = nil
) -> JSONValue {
    operation("create", name, type: type, fields, parent: parent)
}

func update(
    _ name: String, _ fields: JSONValue? = nil, tag: String? = nil, parent: String? = nil
) -> JSONValue {
    operation("update", name, type: nil, fields, tag: tag, parent: parent)
}

/// Changes whatever is there.
func force(_ name: String, _ fields: JSONValue? = nil, parent: String? = nil) -> JSONValue {
    operation("forceUpdate", name, fields, parent: parent)
}

func delete(_ name: String) -> JSONValue { operation("forceDelete", name, type: nil) }

func text(_ value: String) -> JSONValue { ["value": JSONValue(value), "type": "STRING"] }

func number(_ value: Int64) -> JSONValue { ["value": JSONValue(value), "type": "INT64"] }

func reference(_ name: String, _ action: String, zone: JSONValue? = nil) -> JSONValue {
    var value: [JSONMember] = [
        JSONMember(key: "recordName", value: JSONValue(name)),
        JSONMember(key: "action", value: JSONValue(action)),
    ]
    if let zone { value.append(JSONMember(key: "zoneID", value: zone)) }
    return ["value": .object(value), "type": "REFERENCE"]
}
