import RecordModel
import RecordServerCore
import RecordWire

extension AccessProbe {
    /// Who one is oneself.
    static var identity: [AccessProbe] {
        [
            AccessProbe(
                .none, in: .public, sight: "alice@example.org",
                // A key makes the record of its user, which a sign-in has made of others.
                .peopleAndKeys(.sees, others: .answers, key: .done)
            ) { _ in [:] }
        ]
    }

    /// The owner does not agree to be found.
    static var discovery: [AccessProbe] {
        [
            AccessProbe(
                .user, in: .public, sight: "givenName", .peopleAndKeys(.sees, others: .answers)
            ) { ids in ["lookupInfos": [["userRecordName": .string(ids.owner)]]] },
            AccessProbe(
                .user, "by address", in: .public, sight: "givenName",
                .peopleAndKeys(.sees, others: .answers)
            ) { ids in ["lookupInfos": [["emailAddress": .string(ids.email)]]] },
        ]
    }

    static func userLookups(by endpoint: Endpoint) -> [AccessProbe] {
        [
            AccessProbe(
                .user, in: .public, sight: "firstName", .peopleAndKeys(.sees, others: .answers)
            ) { ids in
                endpoint == .usersLookupID
                    ? ["users": [["userRecordName": .string(ids.owner)]]]
                    : ["users": [["emailAddress": .string(ids.email)]]]
            }
        ]
    }

    static var contacts: [AccessProbe] {
        [
            AccessProbe(
                .none, in: .public, sight: "\"alice\"", .peopleAndKeys(.answers, others: .answers)
            ) { _ in [:] }
        ]
    }

    // MARK: Assets

    private static func token(_ record: Text, _ ids: AccessIDs) -> JSONValue {
        ["zoneID": ids.zoneID, "tokens": tokens(record)]
    }

    private static func tokens(_ record: Text, type: String = "Note") -> JSONValue {
        [["recordType": JSONValue(type), "recordName": .string(record), "fieldName": "photo"]]
    }

    static var uploads: [AccessProbe] {
        let url = "\"url\""
        return [
            AccessProbe(.zone, sight: url, .zone(.sees, .sees, .denied)) { token($0.record, $0) },
            AccessProbe(
                .zone, "in private", in: .private, sight: url, .people(.sees, others: .noZone)
            ) { token($0.record, $0) },
            // As for a record that is not there: saving it there fails.
            AccessProbe(.record, "not shared", sight: url, .zone(.sees, .sees, .denied)) {
                token($0.hidden, $0)
            },
            AccessProbe(
                .record, "in public", in: .public, sight: url,
                .open(.sees, users: .denied, anonymous: .signIn, key: .denied)
            ) { ids in ["tokens": tokens(ids.note)] },
            AccessProbe(
                .record, "of its creator, in public", in: .public, sight: url,
                .open(.sees, users: .sees, anonymous: .signIn, key: .sees)
            ) { ids in ["tokens": tokens(ids.diary, type: "Diary")] },
        ]
    }

    static var rereferences: [AccessProbe] {
        func body(_ record: Text) -> JSONValue {
            [["recordName": .string(record), "fieldName": "photo"]]
        }
        let receipt = "\"receipt\""
        return [
            AccessProbe(.zone, sight: receipt, .zone(.sees, .sees, .sees)) { ids in
                ["zoneID": ids.zoneID, "assets": body(ids.record)]
            },
            AccessProbe(
                .zone, "in private", in: .private, sight: receipt,
                .people(.sees, others: .noZone)
            ) { ids in ["zoneID": ids.zoneID, "assets": body(ids.record)] },
            AccessProbe(
                .record, "not shared", sight: receipt, .zone(.sees, .notFound, .notFound)
            ) { ids in ["zoneID": ids.zoneID, "assets": body(ids.hidden)] },
            AccessProbe(
                .record, "of its creator, in public", in: .public, sight: receipt,
                .open(.notFound, users: .notFound, anonymous: .signIn, key: .notFound)
            ) { ids in ["assets": body(ids.diary)] },
        ]
    }

    // MARK: Couriers and schemas

    static var couriers: [AccessProbe] {
        [
            AccessProbe(
                .none, in: .public,
                .open(.done, users: .done, anonymous: .signIn, key: .done)
            ) { _ in ["apnsEnvironment": "development", "clientId": "d"] }
        ]
    }

    static var registrations: [AccessProbe] {
        [
            AccessProbe(
                .courierURL, "token", in: .public,
                .open(.answers, users: .notFound, anonymous: .signIn, key: .notFound)
            ) { ids in
                [
                    "apnsEnvironment": "development", "clientId": "d",
                    "apnsToken": .string(ids.pushToken),
                ]
            }
        ]
    }

    static func schemas(_ endpoint: Endpoint) -> [AccessProbe] {
        let allowed: AccessOutcome =
            switch endpoint {
            case .schemaExport: .sees
            case .schemaValidate: .answers
            default: .done
            }
        return [
            AccessProbe(
                .none, in: .public, sight: "RECORD TYPE",
                .administrators.but(.administrator, allowed).but(.schemaKey, allowed)
            ) { ids in ["schema": .string(ids.schema)] }
        ]
    }
}
