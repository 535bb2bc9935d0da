import RecordModel
import RecordSync
import RecordWire

/// What Apple's reference has in the bodies of the requests that the engine sends, written down once more
/// apart from the server's own list.
///
/// Source: CloudKit Web Services Reference, "Types and Dictionaries" and the pages of the operations.
enum DocumentedBody {
    /// For each operation, for each object of its body by its way, with `[]` for lists and `*` for names
    /// that are data: its keys.
    private static let keys: [SyncOperation: [String: Set<String>]] = [
        .recordsModify: [
            "": ["operations", "zoneID", "atomic", "desiredKeys", "numbersAsStrings"],
            "operations[]": ["operationType", "record"],
            "operations[].record": [
                "recordName", "recordType", "recordChangeTag", "fields", "parent",
                "createShortGUID",
            ],
            "operations[].record.parent": ["recordName"],
            "operations[].record.fields.*": ["value", "type"],
        ],
        .recordsLookup: [
            "": ["records", "zoneID", "desiredKeys", "numbersAsStrings"],
            "records[]": ["recordName", "desiredKeys"],
        ],
        .recordsQuery: [
            "": [
                "zoneID", "resultsLimit", "query", "continuationMarker", "desiredKeys",
                "zoneWide", "numbersAsStrings",
            ],
            "query": ["recordType", "filterBy", "sortBy"],
            "query.filterBy[]": [
                "systemFieldName", "fieldName", "comparator", "fieldValue", "distance",
            ],
            "query.filterBy[].fieldValue": ["value", "type"],
            "query.sortBy[]": ["systemFieldName", "fieldName", "ascending", "relativeLocation"],
        ],
        .databaseChanges: ["": ["syncToken", "resultsLimit"]],
        .zoneChanges: [
            "": ["zones"],
            "zones[]": [
                "zoneID", "syncToken", "resultsLimit", "desiredKeys", "desiredRecordTypes",
                "numbersAsStrings", "reverse",
            ],
        ],
        .zonesLookup: ["": ["zones"], "zones[]": zone],
        .zonesModify: [
            "": ["operations"], "operations[]": ["operationType", "zone"],
            "operations[].zone": ["zoneID"],
        ],
        .subscriptionsModify: [
            "": ["operations"], "operations[]": ["operationType", "subscription"],
            "operations[].subscription": ["subscriptionID", "subscriptionType", "zoneID"],
        ],
        .tokensCreate: ["": ["apnsEnvironment", "clientId"]],
        .tokensRegister: ["": ["apnsEnvironment", "apnsToken", "clientId"]],
        .assetsUpload: [
            "": ["zoneID", "tokens"], "tokens[]": ["recordName", "recordType", "fieldName"],
        ],
        .assetsRereference: [
            "": ["zoneID", "assets"], "assets[]": ["recordName", "fieldName"],
        ],
    ]
    private static let zone: Set<String> = ["zoneName", "ownerRecordName", "zoneType"]
    private static let tags: Set<String> = [
        "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE", "ASSETID",
    ]
    private static let asset: Set<String> = [
        "fileChecksum", "size", "receipt", "wrappingKey", "referenceChecksum",
    ]

    static func problems(_ operation: SyncOperation, _ body: [UInt8]) -> [String] {
        guard let keys = keys[operation] else { return ["\(operation) has no keys"] }
        do {
            var problems: [String] = body.count < 2_000_000 ? [] : ["\(body.count) bytes"]
            look(at: try JSONParser.parse(body), "", keys, &problems)
            return problems
        } catch {
            return ["\(error)"]
        }
    }

    private static func look(
        at json: JSONValue, _ path: String, _ keys: [String: Set<String>],
        _ problems: inout [String]
    ) {
        switch json {
        case .array(let elements):
            if elements.count > 200 { problems.append("\(path) has \(elements.count)") }
            for element in elements { look(at: element, path + "[]", keys, &problems) }
        case .object(let members):
            if path.hasSuffix(".fields") {
                for member in members { field(member.value, "\(path).*", keys, &problems) }
                return
            }
            let known = path.hasSuffix("zoneID") ? zone : keys[path] ?? []
            for member in members {
                let way = path.isEmpty ? member.key.string : "\(path).\(member.key)"
                if !known.contains(member.key.string) { problems.append("\(way) is no key") }
                look(at: member.value, way, keys, &problems)
            }
        default: break
        }
    }

    private static func field(
        _ field: JSONValue, _ path: String, _ keys: [String: Set<String>],
        _ problems: inout [String]
    ) {
        let known = keys[path] ?? []
        for member in field.object ?? [] where !known.contains(member.key.string) {
            problems.append("\(path).\(member.key) is no key")
        }
        let value = field["value"] ?? .null
        let tag = field["type"]?.string?.string ?? ""
        if tag == "UNKNOWN_LIST", value == .array([]) { return }
        // What such a list is cleared of, nobody can say.
        if tag == "", value.isNull { return }
        guard tags.contains(tag) || tag.hasSuffix("_LIST") && tags.contains(String(tag.dropLast(5)))
        else {
            problems.append("\(path) has type '\(tag)'")
            return
        }
        for element in value.array ?? [value] { self.value(element, tag, path, &problems) }
    }

    private static func value(
        _ value: JSONValue, _ tag: String, _ path: String, _ problems: inout [String]
    ) {
        if case .bool = value { problems.append("\(path) is true or false") }
        if tag.hasPrefix("TIMESTAMP"), value.int64 == nil, !value.isNull {
            problems.append("\(path) has no whole milliseconds")
        }
        guard tag.hasPrefix("ASSETID"), let members = value.object else { return }
        let keys = Set(members.map(\.key.string))
        if keys != asset { problems.append("\(path) is an asset with \(keys.sorted())") }
    }
}
