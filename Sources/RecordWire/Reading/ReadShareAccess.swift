import RecordModel

/// Requests for access, blocked people and one-time links (Protocol, "Access to shares"). Apple
/// documents none of them. The shapes are those that clients of Apple's service send.
extension ShareDictionary {
    /// The keys of an entry of `requesters` and of `blocked`, each a user identity.
    static let requesterKey = "requesterInformation"
    static let blockedKey = "blockedInformation"

    mutating func readAccess(_ json: JSONReader) throws(ServerError) {
        if let denies = json["denyAccessRequests"] { deniesAccessRequests = try denies.bool() }
        requesters = try Self.people(json["requesters"], Self.requesterKey)
        blocked = try Self.people(json["blocked"], Self.blockedKey)
        guard let info = json["oneTimeStableUrlInfo"] else { return }
        _ = try info.object()
        var participants: [Text] = []
        if let links = info["oneTimeLinks"] {
            for link in try links.array(maximum: Self.maximumParticipants) {
                participants += try Self.participants(of: link)
            }
        }
        oneTimeLinks = participants
    }

    private static func people(
        _ json: JSONReader?, _ key: String
    ) throws(ServerError) -> [UserLookup]? {
        guard let json else { return nil }
        var people: [UserLookup] = []
        for entry in try json.array(maximum: maximumParticipants) {
            let identity = try entry.required(key)
            _ = try identity.object()
            var lookup = try identity["lookupInfo"].map(UserLookup.init(_:)) ?? UserLookup()
            if let name = identity["userRecordName"] { lookup.userName = try UserName(name) }
            guard !lookup.isEmpty else {
                throw identity.error("names nobody: it needs userRecordName or lookupInfo.")
            }
            people.append(lookup)
        }
        return people
    }

    /// Reads `participantId`, which is a list with one element there.
    static func participants(of link: JSONReader) throws(ServerError) -> [Text] {
        var participants: [Text] = []
        for element in try link.required("participantId").array(maximum: maximumParticipants) {
            participants.append(try element.string(maximumBytes: 128))
        }
        return participants
    }
}
