package import RecordModel

/// Keys that a request for changes may have beyond Apple's. Answers have the extra keys only for
/// clients that ask, because some clients refuse keys that they do not know.
package struct FeedKeys: Hashable, Sendable {
    /// `wantsTotal`: the number of entries that are left, this page included.
    package var wantsTotal = false
    /// `wantsDeletionReason`: the reason for the deletion of a zone.
    package var wantsDeletionReason = false
    /// `extendedLimits`: indicates that a `resultsLimit` above 200 is intended.
    package var hasExtendedLimits = false
    /// `wantsRestorePoint`: the position up to which the server was restored from a backup.
    package var wantsRestorePoint = false
    /// `wantsDeletions`: also the deletions from before that position.
    package var wantsDeletions = false
    /// `wantsOwnerIdentity`: the user who shares a zone of the shared database.
    package var wantsOwnerIdentity = false
    /// `wantsQuota`: the room for writes into the zones of a database.
    package var wantsQuota = false
    /// `wantsInvitations`: the shares to which the requester is invited and which they have not
    /// accepted.
    package var wantsInvitations = false
    /// `knownDatabaseSyncToken`: the position up to which the requester knows the feed of the
    /// database, in a request for the changes of one zone. When only that zone has changed since,
    /// the answer has the token after those changes.
    package var knownDatabaseToken: Text?
    /// `wantsMoves`: the place to which a deleted record was moved.
    package var wantsMoves = false
    /// `invitationsMarker`: the place where the next page of invitations begins, taken from an
    /// answer.
    package var invitationsMarker: Text?

    package init() {}

    package init(_ json: JSONReader) throws(ServerError) {
        wantsTotal = try json.bool("wantsTotal", default: false)
        wantsDeletionReason = try json.bool("wantsDeletionReason", default: false)
        hasExtendedLimits = try json.bool("extendedLimits", default: false)
        wantsRestorePoint = try json.bool("wantsRestorePoint", default: false)
        wantsDeletions = try json.bool("wantsDeletions", default: false)
        wantsOwnerIdentity = try json.bool("wantsOwnerIdentity", default: false)
        wantsQuota = try json.bool("wantsQuota", default: false)
        wantsInvitations = try json.bool("wantsInvitations", default: false)
        knownDatabaseToken = try json.string("knownDatabaseSyncToken", maximumBytes: 1_024)
        wantsMoves = try json.bool("wantsMoves", default: false)
        invitationsMarker = try json.string("invitationsMarker")
    }

    func writeMembers(to answer: inout AnswerWriter) {
        if wantsTotal { answer.member("wantsTotal", true) }
        if wantsDeletionReason { answer.member("wantsDeletionReason", true) }
        if hasExtendedLimits { answer.member("extendedLimits", true) }
        if wantsRestorePoint { answer.member("wantsRestorePoint", true) }
        if wantsDeletions { answer.member("wantsDeletions", true) }
        if wantsOwnerIdentity { answer.member("wantsOwnerIdentity", true) }
        if wantsQuota { answer.member("wantsQuota", true) }
        if wantsInvitations { answer.member("wantsInvitations", true) }
        answer.member("knownDatabaseSyncToken", knownDatabaseToken)
        if wantsMoves { answer.member("wantsMoves", true) }
        if let invitationsMarker { answer.member("invitationsMarker", invitationsMarker) }
    }
}
