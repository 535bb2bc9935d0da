import RecordModel
import RecordWire

extension AccessProbe {
    static var invitations: [AccessProbe] {
        [
            AccessProbe(
                .shortGUID, in: .public, .zone(.sees, .sees, .sees, outsider: .notFound)
            ) { ids in
                ["shortGUIDs": [["value": .string(ids.guid), "shouldFetchRootRecord": true]]]
            },
            AccessProbe(
                .shortGUID, "without the root", in: .public, sight: "Plans",
                .zone(.sees, .sees, .sees, outsider: .notFound)
            ) { ids in ["shortGUIDs": [["value": .string(ids.guid)]]] },
        ]
    }

    /// Nobody of the matrix has an invitation that waits: the one of participants is accepted.
    static var declinedInvitations: [AccessProbe] {
        [
            AccessProbe(
                .shortGUID, "to decline", in: .public,
                .zone(.notFound, .notFound, .notFound, outsider: .notFound)
            ) { ids in ["shortGUIDs": [["value": .string(ids.guid)]]] }
        ]
    }

    /// The same answer for all; only who may ask and is let in by nothing leaves a trace.
    static var accessRequests: [AccessProbe] {
        [
            AccessProbe(
                .shortGUID, "to ask for access", in: .public,
                .zone(.answers, .answers, .answers, outsider: .done)
            ) { ids in ["shortGUIDs": [["value": .string(ids.guid)]]] }
        ]
    }

    static var zoneList: [AccessProbe] {
        [
            AccessProbe(
                .none, sight: "\"Work\"", .zone(.sees, .sees, .sees, outsider: .answers)
            ) { _ in [:] },
            AccessProbe(
                .none, "in public", in: .public, sight: "\"Work\"",
                .open(.answers, users: .answers, anonymous: .answers, key: .answers)
            ) { _ in [:] },
        ]
    }

    static var zoneLookups: [AccessProbe] {
        let body = { (ids: AccessIDs) -> JSONValue in ["zones": [ids.zoneID]] }
        let token = "syncToken"
        return [
            AccessProbe(.zone, sight: token, .zone(.sees, .sees, .sees), body),
            AccessProbe(
                .zone, "in private", in: .private, sight: token,
                .people(.sees, others: .noZone), body),
            AccessProbe(
                .zone, "in public", in: .public, sight: token,
                .open(.noZone, users: .noZone, anonymous: .noZone, key: .noZone), body),
        ]
    }

    private static func zone(_ operation: String, _ zone: JSONValue) -> JSONValue {
        ["operations": [["operationType": JSONValue(operation), "zone": ["zoneID": zone]]]]
    }

    static var zoneModifications: [AccessProbe] {
        [
            AccessProbe(
                .zone, "create what is there", in: .private, sight: "syncToken",
                .people(.sees, others: .noZone)
            ) { zone("create", $0.zoneID) },
            AccessProbe(.zone, "create anew", in: .private, .people(.done, others: .noZone)) {
                zone(
                    "create", ["zoneName": "Fresh", "ownerRecordName": .string($0.owner)])
            },
            AccessProbe(
                .zone, "create in the shared database", in: .shared,
                .people(.bad, others: .bad)
            ) { zone("create", $0.zoneID) },
            AccessProbe(.zone, "delete in private", in: .private, .people(.done, others: .noZone)) {
                zone("delete", $0.zoneID)
            },
            // A participant leaves; the zone of the owner is gone by now.
            AccessProbe(.zone, "delete", .zone(.noZone, .done, .done)) {
                zone("delete", $0.zoneID)
            },
        ]
    }

    // MARK: Subscriptions

    static var subscriptionList: [AccessProbe] {
        [
            AccessProbe(.none, sight: "sub-alice", .people(.sees, others: .answers)) { _ in [:] },
            AccessProbe(
                .none, "in private", in: .private, sight: "sub-alice",
                .people(.sees, others: .answers)
            ) { _ in [:] },
            AccessProbe(
                .none, "in public", in: .public, sight: "sub-alice",
                .open(.answers, users: .answers, anonymous: .signIn, key: .answers)
            ) { _ in [:] },
        ]
    }

    static var subscriptionLookups: [AccessProbe] {
        let body = { (ids: AccessIDs) -> JSONValue in
            ["subscriptions": [["subscriptionID": .string(ids.subscription)]]]
        }
        let sight = "subscriptionType"
        return [
            AccessProbe(.subscription, sight: sight, .people(.sees, others: .notFound), body),
            AccessProbe(
                .subscription, "in private", in: .private, sight: sight,
                .people(.sees, others: .notFound), body),
            AccessProbe(
                .subscription, "in public", in: .public, sight: sight,
                .open(.notFound, users: .notFound, anonymous: .signIn, key: .notFound), body),
        ]
    }

    private static func subscription(_ operation: String, _ value: JSONValue) -> JSONValue {
        ["operations": [["operationType": JSONValue(operation), "subscription": value]]]
    }

    static var subscriptionModifications: [AccessProbe] {
        [
            AccessProbe(.zone, "subscribe", .zone(.done, .done, .done)) { ids in
                subscription(
                    "create",
                    [
                        "subscriptionID": "sub-new", "subscriptionType": "zone",
                        "zoneID": ids.zoneID,
                    ])
            },
            AccessProbe(.subscription, "update", .people(.done, others: .notFound)) { ids in
                subscription(
                    "update",
                    [
                        "subscriptionID": .string(ids.subscription),
                        "subscriptionType": "database",
                        "notificationInfo": ["alertBody": "changed"],
                    ])
            },
            AccessProbe(.subscription, "delete", .people(.done, others: .notFound)) { ids in
                subscription("delete", ["subscriptionID": .string(ids.subscription)])
            },
        ]
    }
}
