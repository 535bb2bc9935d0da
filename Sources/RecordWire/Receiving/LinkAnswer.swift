import RecordModel

/// The target of a share's link: one item of the answer to records/resolve and records/accept
/// (CloudKit Web Services Reference, Types and Dictionaries).
package enum LinkAnswer: Hashable, Sendable {
    case place(LinkedPlace)
    case failed(WireError)

    package init(_ json: JSONReader) throws(ServerError) {
        if let error = try WireError(json) {
            self = .failed(error)
        } else {
            self = .place(try LinkedPlace(json))
        }
    }

    package static func list(_ json: JSONReader) throws(ServerError) -> [LinkAnswer] {
        try json.required("results").array().map(LinkAnswer.init(_:))
    }
}

/// A share and its place.
package struct LinkedPlace: Hashable, Sendable {
    package let zone: ZoneIdentifier
    /// Indicates whether the share belongs to the requester.
    package let isOwn: Bool
    package let share: ShareAnswer

    init(_ json: JSONReader) throws(ServerError) {
        zone = try ZoneIdentifier(try json.required("zoneID"))
        isOwn = try json.string("databaseScope") == "PRIVATE"
        share = try ShareAnswer(RecordAnswer(try json.required("share")))
    }
}
