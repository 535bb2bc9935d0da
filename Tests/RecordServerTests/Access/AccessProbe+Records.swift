import RecordModel
import RecordWire

extension AccessProbe {
    static var queries: [AccessProbe] {
        let query: JSONValue = ["recordType": "Note"]
        return [
            AccessProbe(.zone, "", .zone(.sees, .sees, .sees)) { ids in
                ["query": query, "zoneID": ids.zoneID]
            },
            AccessProbe(.zone, "in private", in: .private, .people(.sees, others: .noZone)) {
                ["query": query, "zoneID": $0.zoneID]
            },
            AccessProbe(.marker, "of the owner", .zone(.sees, .bad, .bad)) { ids in
                [
                    "query": query, "zoneID": ids.zoneID, "resultsLimit": 1,
                    "continuationMarker": ids.marker,
                ]
            },
            AccessProbe(
                .record, "by a filter", .zone(.sees, .answers, .answers)
            ) { ids in
                [
                    "query": [
                        "recordType": "Note",
                        "filterBy": [
                            [
                                "systemFieldName": "recordName", "comparator": "EQUALS",
                                "fieldValue": [
                                    "value": ["recordName": .string(ids.hidden)],
                                    "type": "REFERENCE",
                                ],
                            ]
                        ],
                    ], "zoneID": ids.zoneID,
                ]
            },
            AccessProbe(
                .record, "in public", in: .public,
                .open(.sees, users: .sees, anonymous: .sees, key: .sees)
            ) { _ in ["query": query] },
            AccessProbe(
                .record, "of its creator, in public", in: .public,
                .open(.sees, users: .answers, anonymous: .signIn, key: .answers)
            ) { _ in ["query": ["recordType": "Diary"]] },
        ]
    }

    private static func lookup(_ name: Text) -> JSONValue { [["recordName": .string(name)]] }

    static var lookups: [AccessProbe] {
        [
            AccessProbe(.zone, "", .zone(.sees, .sees, .sees)) { ids in
                ["zoneID": ids.zoneID, "records": lookup(ids.record)]
            },
            AccessProbe(.zone, "in private", in: .private, .people(.sees, others: .noZone)) {
                ["zoneID": $0.zoneID, "records": lookup($0.record)]
            },
            AccessProbe(.record, "not shared", .zone(.sees, .notFound, .notFound)) { ids in
                ["zoneID": ids.zoneID, "records": lookup(ids.hidden)]
            },
            AccessProbe(
                .record, "in public", in: .public,
                .open(.sees, users: .sees, anonymous: .sees, key: .sees)
            ) { ids in ["records": lookup(ids.note)] },
            AccessProbe(
                .record, "of its creator, in public", in: .public,
                .open(.sees, users: .notFound, anonymous: .notFound, key: .notFound)
            ) { ids in ["records": lookup(ids.diary)] },
        ]
    }

    static var formerStates: [AccessProbe] {
        [
            AccessProbe(.zone, "", in: .private, .people(.sees, others: .noZone)) { ids in
                ["zoneID": ids.zoneID]
            },
            AccessProbe(.record, "", in: .private, .people(.sees, others: .noZone)) { ids in
                ["zoneID": ids.zoneID, "recordName": .string(ids.record)]
            },
            AccessProbe(.marker, "of a query", in: .private, .people(.bad, others: .bad)) { ids in
                ["zoneID": ids.zoneID, "continuationMarker": ids.marker]
            },
        ]
    }

    /// One operation of records/modify in the zone of the owner.
    private static func change(
        _ operation: String, _ name: Text, _ ids: AccessIDs, type: String = "Note",
        _ keys: JSONValue = [:]
    ) -> JSONValue {
        .object([
            JSONMember(key: "zoneID", value: ids.zoneID),
            JSONMember(key: "operations", value: operations(operation, name, type: type, keys)),
        ])
    }

    private static func operations(
        _ operation: String, _ name: Text, type: String, _ keys: JSONValue
    ) -> JSONValue {
        let record = [
            JSONMember(key: "recordName", value: .string(name)),
            JSONMember(key: "recordType", value: JSONValue(type)),
        ]
        return [ShareScene.operation(operation, .object(record + (keys.object ?? [])))]
    }

    private static let edit: JSONValue = [
        "fields": ["name": ["value": "another", "type": "STRING"]]
    ]

    static var modifications: [AccessProbe] {
        [
            AccessProbe(.record, "update", .zone(.done, .done, .denied)) { ids in
                change("forceUpdate", ids.record, ids, edit)
            },
            AccessProbe(
                .record, "update not shared, with its tag", .zone(.done, .notFound, .notFound)
            ) { ids in
                change(
                    "update", ids.hidden, ids,
                    [
                        "recordChangeTag": ids.hiddenTag,
                        "fields": ["name": ["value": "another", "type": "STRING"]],
                    ])
            },
            AccessProbe(.record, "force update not shared", .zone(.done, .denied, .denied)) { ids in
                change("forceUpdate", ids.hidden, ids, edit)
            },
            // Names are the clients': that one is taken cannot be kept from who may create.
            AccessProbe(
                .record, "create with the name of one not shared",
                .zone(.refused(.conflict), .refused(.exists), .denied)
            ) { ids in
                change(
                    "create", ids.hidden, ids, ["parent": ["recordName": .string(ids.record)]])
            },
            AccessProbe(
                .record, "delete not shared, with its tag",
                .zone(.refused(.conflict), .notFound, .notFound)
            ) { ids in
                change("delete", ids.hidden, ids, ["recordChangeTag": ids.hiddenTag])
            },
            AccessProbe(.record, "create below", .zone(.done, .done, .denied)) { ids in
                change(
                    "create", "new-1", ids, ["parent": ["recordName": .string(ids.record)]])
            },
            AccessProbe(
                .record, "create below not shared",
                .zone(.done, .refused(.validatingReferenceError), .denied)
            ) { ids in
                change(
                    "create", "new-2", ids, ["parent": ["recordName": .string(ids.hidden)]])
            },
            // It has a child by now.
            AccessProbe(
                .record, "force delete not shared",
                .zone(.refused(.validatingReferenceError), .answers, .answers)
            ) {
                change("forceDelete", $0.hidden, $0)
            },
            AccessProbe(.record, "delete", .zone(.done, .done, .denied)) { ids in
                change("forceDelete", ids.child, ids)
            },
            AccessProbe(.receipt, "of the owner", .zone(.done, .bad, .denied)) { ids in
                change(
                    "forceUpdate", ids.record, ids,
                    ["fields": ["photo": ["value": ids.receipt, "type": "ASSETID"]]])
            },
            AccessProbe(.zone, "in private", in: .private, .people(.done, others: .noZone)) {
                change("forceUpdate", $0.record, $0, edit)
            },
            // Nobody is invited to a public share.
            AccessProbe(
                .record, "invite to the share", .zone(.done, .denied, .denied).but(.joiner, .bad)
            ) { ids in
                change(
                    "forceUpdate", ids.share, ids, type: "cloudkit.share",
                    [
                        "participants": [
                            [
                                "type": "USER", "permission": "READ_WRITE",
                                "acceptanceStatus": "INVITED",
                                "userIdentity": ["userRecordName": .string(ids.guest)],
                            ]
                        ]
                    ])
            },
        ]
    }

    static var publicModifications: [AccessProbe] {
        [
            AccessProbe(
                .record, "update in public", in: .public,
                .open(.done, users: .denied, anonymous: .signIn, key: .denied)
            ) { ids in
                ["operations": operations("forceUpdate", ids.note, type: "Note", edit)]
            },
            AccessProbe(
                .record, "update of its creator's, in public", in: .public,
                .open(
                    .done, users: .refused(.exists), anonymous: .signIn, key: .refused(.exists))
            ) { ids in
                ["operations": operations("forceUpdate", ids.diary, type: "Diary", edit)]
            },
            AccessProbe(
                .record, "create in public", in: .public,
                .open(.done, users: .done, anonymous: .signIn, key: .done)
            ) { _ in ["operations": operations("create", "new-3", type: "Note", edit)] },
        ]
    }

    /// changes/zone and records/changes; `body` wraps the request for a zone.
    static func feed(_ body: @escaping ([JSONMember]) -> JSONValue) -> [AccessProbe] {
        func after(_ token: JSONValue?, _ ids: AccessIDs) -> JSONValue {
            let zone = JSONMember(key: "zoneID", value: ids.zoneID)
            return body([zone] + (token.map { [JSONMember(key: "syncToken", value: $0)] } ?? []))
        }
        return [
            AccessProbe(.zone, "", .zone(.sees, .sees, .sees)) { after(nil, $0) },
            AccessProbe(.zone, "in private", in: .private, .people(.sees, others: .noZone)) {
                after(nil, $0)
            },
            AccessProbe(.syncToken, "of the owner", .zone(.answers, .expired, .expired)) {
                after($0.zoneToken, $0)
            },
            AccessProbe(.syncToken, "of the caller", .zone(.answers, .answers, .answers)) {
                after($0.ownZoneToken, $0)
            },
            AccessProbe(
                .syncToken, "of the database", .zone(.expired, .expired, .expired)
            ) { after($0.databaseToken, $0) },
        ]
    }

    static var databaseFeed: [AccessProbe] {
        [
            AccessProbe(
                .none, sight: "\"Work\"", .zone(.sees, .sees, .sees, outsider: .answers)
            ) { _ in [:] },
            AccessProbe(
                .syncToken, "of the owner", sight: "\"Work\"",
                .people(.answers, others: .expired)
            ) { ids in ["syncToken": ids.databaseToken] },
            // Who was put out is told that the zone is gone, once.
            AccessProbe(
                .syncToken, "of the caller", sight: "\"Work\"",
                .people(.answers, others: .answers).but(.revoked, .sees)
            ) { ids in ["syncToken": ids.ownDatabaseToken] },
            AccessProbe(
                .syncToken, "of a zone", .people(.expired, others: .expired)
            ) { ids in ["syncToken": ids.zoneToken] },
        ]
    }
}
