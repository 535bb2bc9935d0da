package import RecordModel

/// The answer to tokens/create: where notifications come from.
package struct CourierAnswer: Hashable, Sendable {
    package let token: Text
    package let url: Text

    package init(_ json: JSONReader) throws(ServerError) {
        token = try json.required("apnsToken").string()
        url = try json.required("webcourierURL").string()
    }
}

/// What a notification is about (reference §8): where to look for changes.
package struct PushNotice: Hashable, Sendable {
    /// Nil for something that nobody here knows: look everywhere.
    package let scope: DatabaseScope?
    /// Of a zone subscription, or of a query subscription.
    package let zone: ZoneIdentifier?
    package let subscriptionID: Text?

    package init(
        scope: DatabaseScope?, zone: ZoneIdentifier? = nil, subscriptionID: Text? = nil
    ) {
        self.scope = scope
        self.zone = zone
        self.subscriptionID = subscriptionID
    }

    /// A frame of a courier.
    package init(_ json: JSONReader) throws(ServerError) {
        let content = json["ck"]
        let place = content?["fet"] ?? content?["qry"] ?? content?["met"]
        scope = place?["dbs"]?.value.int64.flatMap { number in
            DatabaseScope.allCases.first { Int64($0.frameNumber) == number }
        }
        subscriptionID = try place?.string("sid")
        guard let place, let zone = place["zid"] else {
            self.zone = nil
            return
        }
        self.zone = ZoneIdentifier(
            zone: ZoneName(bytes: try zone.string().utf8),
            owner: try place["zoid"].map(UserName.init(_:)))
    }
}

extension WireSubscription {
    /// An extension: the frames of a subscription to a database of this name say in which zone records
    /// have changed, so that nobody has to ask for it.
    package static let namingZones: Text = "recordfs-zones"
}

extension DatabaseScope {
    /// `dbs` of a frame.
    package var frameNumber: Int {
        switch self {
        case .public: 1
        case .private: 2
        case .shared: 3
        }
    }
}
