import RecordModel

/// What a client can name, steal or hand back.
enum AccessIDKind: String, CaseIterable, Sendable {
    case zone = "zone owner"
    case record = "recordName"
    case shortGUID
    case subscription = "subscriptionID"
    case uploadURL = "asset upload URL"
    case downloadURL = "asset download URL"
    case syncToken = "sync token"
    case marker = "continuation marker"
    case courierURL = "courier URL"
    case receipt
    case user = "userRecordName"
    /// For endpoints that take no identifier.
    case none = "no identifier"
}

/// The identifiers of one scene. A `twin` has the same shape and names
/// nothing.
struct AccessIDs {
    var owner: Text
    var email: Text = "alice@example.org"
    var zone: Text = "Work"
    /// Shared: the note that everything is about, one below it, the share.
    var record: Text = "n-1"
    var child: Text = "c-1"
    var share: Text = "s-1"
    /// In the same zone and in no share.
    var hidden: Text = "x-1"
    /// In the public database: for everybody, and of a type that only its creator may read.
    var note: Text = "p-1"
    var diary: Text = "d-1"
    var guid: Text = ""
    var subscription: Text = "sub-alice"
    var pushToken: Text = ""
    var courierURL: Text = ""
    var hiddenTag: JSONValue = .null
    // Handed out by the server, to the owner and to the caller.
    var zoneToken: JSONValue = .null
    var databaseToken: JSONValue = .null
    var marker: JSONValue = .null
    var receipt: JSONValue = .null
    var ownZoneToken: JSONValue = .null
    var ownDatabaseToken: JSONValue = .null
    /// The schema of the container with one more type.
    var schema: Text = ""
    /// Of a guest who is not of the matrix.
    var guest: Text

    var zoneID: JSONValue {
        ["zoneName": .string(zone), "ownerRecordName": .string(owner)]
    }

    /// Nothing of this exists, but for the zone if asked so; every name has as many bytes as the
    /// one it stands for.
    func twin(inZone: Bool) -> AccessIDs {
        var twin = self
        if !inZone {
            twin.owner = Text(String(owner.string.dropLast(5)) + "ffff9")
            twin.zone = "Wxyz"
        }
        twin.record = "n-9"
        twin.child = "c-9"
        twin.hidden = "x-9"
        twin.diary = "d-9"
        twin.guid = Text(String(guid.string.reversed()))
        twin.subscription = "sub-nobdy"
        twin.pushToken = Text(String(pushToken.string.reversed()))
        return twin
    }

    /// Names that may be in an answer because they were in the request.
    var names: [String] {
        [owner, zone, record, child, hidden, diary, guid, subscription, pushToken].map(\.string)
    }

    /// The member by which an endpoint that does not take this identifier is tempted.
    func stray(_ kind: AccessIDKind) -> JSONValue? {
        switch kind {
        case .zone: ["zoneID": zoneID]
        case .record: ["recordName": .string(record), "records": [["recordName": .string(record)]]]
        case .shortGUID:
            ["shortGUID": .string(guid), "shortGUIDs": [["value": .string(guid)]]]
        case .subscription:
            [
                "subscriptionID": .string(subscription),
                "subscriptions": [["subscriptionID": .string(subscription)]],
            ]
        case .uploadURL, .downloadURL: ["url": .string(courierURL), "downloadURL": "/assets/x"]
        case .syncToken: ["syncToken": zoneToken, "metaSyncToken": databaseToken]
        case .marker: ["continuationMarker": marker]
        case .courierURL:
            ["webcourierURL": .string(courierURL), "apnsToken": .string(pushToken)]
        case .receipt: ["receipt": receipt]
        case .user:
            ["userRecordName": .string(owner), "users": [["userRecordName": .string(owner)]]]
        case .none: nil
        }
    }
}
