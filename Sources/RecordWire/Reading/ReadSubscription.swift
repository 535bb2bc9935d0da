package import RecordModel

extension WireSubscription {
    /// The longest subscription ID, in bytes.
    package static let maximumIDBytes = 255

    /// Reads a subscription dictionary. Without `needsID` it may lack its ID, which is then empty.
    package init(
        _ json: JSONReader, limits: RequestLimits = .standard, needsID: Bool = true
    ) throws(ServerError) {
        let id =
            try json["subscriptionID"] == nil && !needsID
            ? "" : json.required("subscriptionID").string(maximumBytes: Self.maximumIDBytes)
        self.init(
            subscriptionID: id, kind: try json.required("subscriptionType").choice())
        if limits.isStrict, kind == .database {
            throw json.error("has a subscriptionType that is not zone or query.")
        }
        zone = try json["zoneID"].map(ZoneIdentifier.init(_:))
        query = try json["query"].map { (query) throws(ServerError) in
            try WireQuery(query, limits: limits)
        }
        if let events = json["firesOn"] {
            for event in try events.array(maximum: limits.maximumItems) {
                firesOn.insert(try event.choice())
            }
        }
        firesOnce = try json.bool("firesOnce", default: false)
        zoneWide = try json.bool("zoneWide", default: true)
        notificationInfo = try json["notificationInfo"].map(NotificationInfo.check)
        guard kind == .query else { return }
        guard query != nil else { throw json.error("lacks query, which type query needs.") }
        guard !firesOn.isEmpty else {
            throw json.error("lacks firesOn: create, update or delete.")
        }
    }

    /// Reads the body of subscriptions/lookup: the wanted IDs.
    package static func lookupList(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [Text] {
        var ids: [Text] = []
        for item in try json.elements("subscriptions", maximum: limits.maximumItems) {
            ids.append(
                try item.required("subscriptionID").string(maximumBytes: maximumIDBytes))
        }
        return ids
    }
}

extension SubscriptionOperation {
    /// Reads the body of subscriptions/modify.
    package static func list(
        _ json: JSONReader, limits: RequestLimits = .standard
    ) throws(ServerError) -> [SubscriptionOperation] {
        var operations: [SubscriptionOperation] = []
        for operation in try json.elements("operations", maximum: limits.maximumItems) {
            operations.append(try SubscriptionOperation(operation, limits))
        }
        return operations
    }

    private enum Kind: String, CaseIterable { case create, update, delete }

    private init(_ json: JSONReader, _ limits: RequestLimits) throws(ServerError) {
        let kind: Kind = try json.required("operationType").choice()
        let subscription = try json.required("subscription")
        switch kind {
        case .create:
            self = .create(
                try WireSubscription(subscription, limits: limits, needsID: false))
        case .update: self = .update(try WireSubscription(subscription, limits: limits))
        case .delete:
            self = .delete(
                subscriptionID: try subscription.required("subscriptionID").string(
                    maximumBytes: WireSubscription.maximumIDBytes))
        }
    }
}

/// The notificationInfo dictionary (CloudKit Web Services Reference, Types and Dictionaries).
enum NotificationInfo {
    private static let texts = [
        "alertBody", "alertLocalizationKey", "alertActionLocalizationKey", "alertLaunchImage",
        "soundName", "category", "title", "subtitle",
    ]
    private static let marks = [
        "shouldBadge", "shouldSendContentAvailable", "shouldSendMutableContent",
    ]
    /// The size of the whole dictionary, in bytes: it is part of every frame.
    private static let maximumBytes = 4_096

    /// Returns the dictionary as it was received, without nulls, after a check that its known keys
    /// have the right types.
    static func check(_ json: JSONReader) throws(ServerError) -> JSONValue {
        let members = try json.object().filter { !$0.value.isNull }
        for key in texts { _ = try json.string(key) }
        for key in marks { _ = try json.bool(key, default: false) }
        for key in ["alertLocalizationArgs", "desiredKeys", "additionalFields"] {
            guard let list = try json[key]?.array() else { continue }
            for argument in list { _ = try argument.string() }
        }
        guard json.value.serialized().count <= maximumBytes else {
            throw json.error("is larger than \(maximumBytes) bytes.")
        }
        return .object(members)
    }
}
