import RecordWire

/// Who calls in the access matrix. The owner is always alice.
enum AccessRole: String, CaseIterable, Sendable {
    case owner
    /// Participants who have accepted.
    case writer = "read-write"
    case reader = "read-only"
    /// Was a read-write participant.
    case revoked
    case stranger = "never invited"
    /// Came in by the URL of a public share, which gives READ_WRITE.
    case joiner = "public"
    /// Of the server, without any share.
    case administrator
    /// An API token alone.
    case anonymous
    case nobody = "no credentials"
    case key = "server-to-server key"
    /// Of an administrator, for schemas too.
    case schemaKey = "schema key"

    var isUser: Bool {
        switch self {
        case .owner, .writer, .reader, .revoked, .stranger, .joiner, .administrator: true
        case .anonymous, .nobody, .key, .schemaKey: false
        }
    }

    /// Whether the share has, or had, this caller.
    var joins: Bool {
        switch self {
        case .writer, .reader, .revoked, .joiner: true
        case .owner, .stranger, .administrator, .anonymous, .nobody, .key, .schemaKey: false
        }
    }

    /// Where this caller asks for the zone of the owner.
    var scope: DatabaseScope { self == .owner ? .private : .shared }
}

/// What became of a request.
enum AccessOutcome: Equatable {
    /// The answer shows what the probe looks for, and nothing has changed.
    case sees
    /// No error, and the stored state has changed.
    case done
    /// No error, nothing is shown and nothing has changed.
    case answers
    /// The request, or its only item, failed.
    case refused(ServerErrorCode)

    static let notFound = AccessOutcome.refused(.notFound)
    static let noZone = AccessOutcome.refused(.zoneNotFound)
    static let denied = AccessOutcome.refused(.accessDenied)
    static let signIn = AccessOutcome.refused(.authenticationRequired)
    static let unknown = AccessOutcome.refused(.authenticationFailed)
    static let bad = AccessOutcome.refused(.badRequest)
    static let expired = AccessOutcome.refused(.changeTokenExpired)

    /// Whether it must not tell what is forbidden from what does not exist.
    var hidesExistence: Bool { self == .notFound || self == .noZone }
}

/// The outcome for each role: one row of the matrix.
struct AccessRow {
    private var outcomes: [AccessRole: AccessOutcome]

    subscript(role: AccessRole) -> AccessOutcome? { outcomes[role] }

    func but(_ role: AccessRole, _ outcome: AccessOutcome) -> AccessRow {
        var row = self
        row.outcomes[role] = outcome
        return row
    }

    private init(
        owner: AccessOutcome, writer: AccessOutcome, reader: AccessOutcome,
        outsider: AccessOutcome, anonymous: AccessOutcome = .signIn, key: AccessOutcome = .denied
    ) {
        outcomes = [
            .owner: owner, .writer: writer, .joiner: writer, .reader: reader, .revoked: outsider,
            .stranger: outsider, .administrator: outsider, .anonymous: anonymous,
            .nobody: .unknown, .key: key, .schemaKey: key,
        ]
    }

    /// In a zone of the private database of the owner.
    static func zone(
        _ owner: AccessOutcome, _ writer: AccessOutcome, _ reader: AccessOutcome,
        outsider: AccessOutcome = .noZone
    ) -> AccessRow {
        AccessRow(owner: owner, writer: writer, reader: reader, outsider: outsider)
    }

    /// Where shares make no difference; keys are for the public database.
    static func people(_ owner: AccessOutcome, others: AccessOutcome) -> AccessRow {
        AccessRow(owner: owner, writer: others, reader: others, outsider: others)
    }

    /// The same where a key may ask as its user.
    static func peopleAndKeys(
        _ owner: AccessOutcome, others: AccessOutcome, key: AccessOutcome? = nil
    ) -> AccessRow {
        AccessRow(
            owner: owner, writer: others, reader: others, outsider: others, key: key ?? others)
    }

    /// In the public database.
    static func open(
        _ owner: AccessOutcome, users: AccessOutcome, anonymous: AccessOutcome, key: AccessOutcome
    ) -> AccessRow {
        AccessRow(
            owner: owner, writer: users, reader: users, outsider: users, anonymous: anonymous,
            key: key)
    }

    static let administrators = people(.denied, others: .denied)
}
