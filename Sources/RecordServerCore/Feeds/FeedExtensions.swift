import RecordModel
import RecordWire

/// The keys beyond Apple's in a request for changes, as far as its caller may use them.
struct FeedExtensions {
    private let keys: FeedKeys
    private let isKnown: Bool
    private let usualLimit: Int

    init(
        _ body: JSONReader, _ context: OperationContext, _ settings: ServiceSettings
    ) throws(ServerError) {
        keys = try FeedKeys(body)
        // The answers of iCloud's own hosts have no such keys.
        isKnown = context.dialect == .webServices
        usualLimit = settings.maximumResults
    }

    var wantsTotal: Bool { keys.wantsTotal && isKnown }
    var wantsDeletionReason: Bool { keys.wantsDeletionReason && isKnown }
    var wantsRestorePoint: Bool { keys.wantsRestorePoint && isKnown }
    var wantsDeletions: Bool { keys.wantsDeletions && isKnown }
    var wantsOwnerIdentity: Bool { keys.wantsOwnerIdentity && isKnown }
    var wantsQuota: Bool { keys.wantsQuota && isKnown }
    var wantsInvitations: Bool { keys.wantsInvitations && isKnown }

    var knownDatabaseToken: Text? { isKnown ? keys.knownDatabaseToken : nil }
    var wantsMoves: Bool { keys.wantsMoves && isKnown }

    /// Returns how many invitations the client already has. Errors: badRequest for an invalid
    /// marker.
    func invitationsOffset() throws(ServerError) -> Int {
        guard let marker = keys.invitationsMarker else { return 0 }
        guard let offset = Int(marker.string), (0...1_000_000).contains(offset) else {
            throw ServerError(.badRequest, "invitationsMarker is none of an answer of this server.")
        }
        return offset
    }

    func limit(_ asked: Int) -> Int {
        keys.hasExtendedLimits ? asked : min(asked, usualLimit)
    }
}
