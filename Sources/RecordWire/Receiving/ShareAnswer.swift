package import RecordModel

/// A record of the type `cloudkit.share` of an answer, with what only shares say (reference §5.9).
package struct ShareAnswer: Hashable, Sendable {
    package let name: RecordName
    package let changeTag: Text
    /// Nil for a share of the whole zone.
    package let root: RecordName?
    package let shortGUID: Text?
    package let url: Text?
    package let title: Text?
    /// What kind of thing it is; often a uniform type identifier.
    package let type: Text?
    /// What a client has called a thumbnail: any bytes.
    package let thumbnail: [UInt8]?
    package let publicPermission: SharePermission
    /// Those that the asker may see.
    package let participants: [ParticipantAnswer]
    package let owner: ParticipantAnswer?
    /// The asker; nil for somebody who has joined nothing.
    package let current: ParticipantAnswer?
    /// Who asks for access; told to the owner and administrators only, as all below.
    package let requesters: [ParticipantAnswer]
    package let blocked: [ParticipantAnswer]
    /// Nil when it is not told.
    package let deniesAccessRequests: Bool?
    /// One-time links that nobody has used, by the participant who is to come by it.
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

    /// Nil also for what is no text: a share is read without it.
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

    /// Of those with their whole address: another server's begin who knows how.
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

/// Somebody who has a share, or is invited to it (reference §5.9).
package struct ParticipantAnswer: Hashable, Sendable {
    package let id: Text?
    package let user: UserName?
    package let emailAddress: Text?
    package let phoneNumber: Text?
    /// Given and family name; empty when they are not told.
    package let name: Text
    package let type: ParticipantType
    /// What the share lets it do, by itself or by what it lets everybody do.
    package let permission: SharePermission
    package let status: AcceptanceStatus
    /// When it was invited, or has asked for access, in milliseconds since 1970; nil when it is not
    /// told.
    package let invitedMilliseconds: Int64?
    /// When it accepted, in milliseconds since 1970; nil when it is not told.
    package let acceptedMilliseconds: Int64?

    package init(_ json: JSONReader) throws(ServerError) {
        try self.init(identity: json["userIdentity"], json)
    }

    /// Of a user identity dictionary alone.
    package init(identity: JSONValue) throws(ServerError) {
        try self.init(identity: JSONReader(identity), JSONReader(.object([])))
    }

    /// Of a dictionary that has the identity at some place.
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
    /// What people see of a share before they accept it.
    package static let shareTitle = FieldName("cloudkit.title")
    package static let shareType = FieldName("cloudkit.type")
    package static let shareThumbnail = FieldName("cloudkit.thumbnailImageData")
}

extension JSONReader {
    /// One of a few words; another one than those that are known here counts as `fallback`.
    fileprivate func value<Word: RawRepresentable>(
        _ key: String, else fallback: Word
    ) throws(ServerError) -> Word where Word.RawValue == String {
        try string(key).flatMap { Word(rawValue: $0.string) } ?? fallback
    }
}
