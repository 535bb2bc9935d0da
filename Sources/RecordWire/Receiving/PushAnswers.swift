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
package enum PushNotice: Hashable, Sendable {
    /// Something in a zone: of a zone subscription, or of a query subscription.
    case zone(ZoneIdentifier, subscriptionID: Text?)
    case database(subscriptionID: Text?)
    /// Something that nobody here knows: look everywhere.
    case unknown

    /// A frame of a courier.
    package init(_ json: JSONReader) throws(ServerError) {
        let content = json["ck"]
        if let place = content?["fet"] ?? content?["qry"], let zone = place["zid"] {
            self = .zone(
                ZoneIdentifier(
                    zone: ZoneName(bytes: try zone.string().utf8),
                    owner: try place["zoid"].map(UserName.init(_:))),
                subscriptionID: try place.string("sid"))
        } else if let place = content?["met"] {
            self = .database(subscriptionID: try place.string("sid"))
        } else {
            self = .unknown
        }
    }
}
