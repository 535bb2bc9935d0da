package import RecordModel

/// A record of the type `cloudkit.share` of an answer, with the keys that only shares have
/// (CloudKit Web Services Reference, Types and Dictionaries; Protocol, "Access to shares").
package struct ShareAnswer: Hashable, Sendable {
    package let name: RecordName
    package let changeTag: Text
    /// The root record. It is nil for a share of the whole zone.
    package let root: RecordName?
    package let shortGUID: Text?
    package let url: Text?
    package let title: Text?
    /// The kind of the shared object. It is often a uniform type identifier.
    package let type: Text?
    /// The bytes that a client has sent as a thumbnail. They can be any bytes.
    package let thumbnail: [UInt8]?
    package let publicPermission: SharePermission
    /// The participants that the requester may see.
    package let participants: [ParticipantAnswer]
    package let owner: ParticipantAnswer?
    /// The requester. It is nil for a user who has not joined.
    package let current: ParticipantAnswer?
    /// The people who ask for access. Only the owner and administrators receive this key and all
    /// keys below.
    package let requesters: [ParticipantAnswer]
    package let blocked: [ParticipantAnswer]
    /// The rule for access requests. It is nil when the answer does not have it.
    package let deniesAccessRequests: Bool?
    /// The unused one-time links, each with the participant who is to use it.
    package let links: [OneTimeLink]

    package struct OneTimeLink: Hashable, Sendable {
        package let participantID: Text
        package let url: Text
    }

    package init(_ record: RecordAnswer) throws(ServerError) {
        let json = JSONReader(.object(record.unknownKeys))
        name = record.name
        changeTag = record.changeTag
        root = try json["forRecord"]?["recordName"].map(RecordName.init(_:))
        shortGUID = record.shortGUID
        url = try json.string("url")
        title = Self.text(.shareTitle, of: record)
        type = Self.text(.shareType, of: record)
        thumbnail = record.fields.first { $0.name == .shareThumbnail }.flatMap { field in
            if case .bytes(let bytes)? = field.value { bytes } else { nil }
        }
        publicPermission = try json.value("publicPermission", else: .unknown)
        var participants: [ParticipantAnswer] = []
        if let list = try json["participants"]?.array() {
            for participant in list { participants.append(try ParticipantAnswer(participant)) }
        }
        self.participants = participants
        owner = try json["owner"].map(ParticipantAnswer.init(_:))
        current = try json["currentUserParticipant"].map(ParticipantAnswer.init(_:))
        requesters = try Self.people(json["requesters"], ShareDictionary.requesterKey)
        blocked = try Self.people(json["blocked"], ShareDictionary.blockedKey)
        deniesAccessRequests = try json["denyAccessRequests"]?.bool()
        links = try Self.links(json["oneTimeStableUrlInfo"]?["oneTimeLinks"])
    }

    /// Returns a text. Returns nil also for a value that is no text: the share is read without it.
    private static func text(_ name: FieldName, of record: RecordAnswer) -> Text? {
        record.fields.first { $0.name == name }.flatMap { field in
            if case .string(let text)? = field.value { text } else { nil }
        }
    }

    private static func people(
        _ json: JSONReader?, _ key: String
    ) throws(ServerError) -> [ParticipantAnswer] {
        guard let json else { return [] }
        var people: [ParticipantAnswer] = []
        for entry in try json.array() {
            people.append(try ParticipantAnswer(identity: entry[key], entry))
        }
        return people
    }

    /// Reads the links that have their whole address. For the links of another server it is not
    /// known how their address begins.
    private static func links(_ json: JSONReader?) throws(ServerError) -> [OneTimeLink] {
        guard let json else { return [] }
        var links: [OneTimeLink] = []
        for link in try json.array() {
            guard let url = try link.string("url") else { continue }
            for id in try ShareDictionary.participants(of: link) {
                links.append(OneTimeLink(participantID: id, url: url))
            }
        }
        return links
    }
}

/// A person who takes part in a share, or is invited to it (CloudKit Web Services Reference,
/// Types and Dictionaries).
package struct ParticipantAnswer: Hashable, Sendable {
    package let id: Text?
    package let user: UserName?
    package let emailAddress: Text?
    package let phoneNumber: Text?
    /// The given and family name. It is empty when the answer has none.
    package let name: Text
    package let type: ParticipantType
    /// The permission of the participant, either their own or the one that the share gives to
    /// everyone.
    package let permission: SharePermission
    package let status: AcceptanceStatus
    /// The time of the invitation, or of the request for access, in milliseconds since 1970. It is
    /// nil when the answer has none.
    package let invitedMilliseconds: Int64?
    /// The time of the acceptance, in milliseconds since 1970. It is nil when the answer has none.
    package let acceptedMilliseconds: Int64?

    package init(_ json: JSONReader) throws(ServerError) {
        try self.init(identity: json["userIdentity"], json)
    }

    /// Creates a participant from a user identity dictionary alone.
    package init(identity: JSONValue) throws(ServerError) {
        try self.init(identity: JSONReader(identity), JSONReader(.object([])))
    }

    /// Creates a participant from a dictionary that has the identity at some place.
    fileprivate init(identity: JSONReader?, _ json: JSONReader) throws(ServerError) {
        id = try json.string("participantId")
        user = try identity?["userRecordName"].map(UserName.init(_:))
        emailAddress = try identity?["lookupInfo"]?.string("emailAddress")
        phoneNumber = try identity?["lookupInfo"]?.string("phoneNumber")
        let names = identity?["nameComponents"]
        let parts = [try names?.string("givenName"), try names?.string("familyName")]
        name = Text(parts.compactMap { $0?.string }.joined(separator: " "))
        type = try json.value("type", else: .unknown)
        permission = try json.value("permission", else: .unknown)
        status = try json.value("acceptanceStatus", else: .unknown)
        let invited = json["invitedAt"] ?? json["requestedAt"]
        invitedMilliseconds = try invited?.milliseconds(ValueRules())
        acceptedMilliseconds = try json["acceptedAt"]?.milliseconds(ValueRules())
    }
}

extension FieldName {
    /// The details of a share that people see before they accept it.
    package static let shareTitle = FieldName("cloudkit.title")
    package static let shareType = FieldName("cloudkit.type")
    package static let shareThumbnail = FieldName("cloudkit.thumbnailImageData")
}

extension JSONReader {
    /// Returns one of a few words. An unknown word counts as `fallback`.
    fileprivate func value<Word: RawRepresentable>(
        _ key: String, else fallback: Word
    ) throws(ServerError) -> Word where Word.RawValue == String {
        try string(key).flatMap { Word(rawValue: $0.string) } ?? fallback
    }
}
