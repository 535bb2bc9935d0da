package import RecordModel

/// The answer to tokens/create: the address from which notifications are read.
package struct CourierAnswer: Hashable, Sendable {
    package let token: Text
    package let url: Text

    package init(_ json: JSONReader) throws(ServerError) {
        token = try json.required("apnsToken").string()
        url = try json.required("webcourierURL").string()
    }
}

/// The subject of a notification: the place where the client looks for changes (Protocol,
/// "Subscriptions and push").
package struct PushNotice: Hashable, Sendable {
    /// The database. It is nil for an unknown one: the client then looks everywhere.
    package let scope: DatabaseScope?
    /// The zone of a zone subscription, or of a query subscription.
    package let zone: ZoneIdentifier?
    package let subscriptionID: Text?

    package init(
        scope: DatabaseScope?, zone: ZoneIdentifier? = nil, subscriptionID: Text? = nil
    ) {
        self.scope = scope
        self.zone = zone
        self.subscriptionID = subscriptionID
    }

    /// Reads a frame of a courier.
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
    /// An extension: the ID of a subscription to a database whose frames name the zone in which
    /// records have changed, so that clients need not ask for it.
    package static let namingZones: Text = "recordfs-zones"
}

extension DatabaseScope {
    /// The number of the database in `dbs` of a frame.
    package var frameNumber: Int {
        switch self {
        case .public: 1
        case .private: 2
        case .shared: 3
        }
    }
}
