package import RecordModel

/// Keys that a request for changes may have beyond Apple's. Answers have the extra keys only for
/// who asks, because some clients refuse keys that they do not know.
package struct FeedKeys: Hashable, Sendable {
    /// `wantsTotal`: how many entries are left, this page included.
    package var wantsTotal = false
    /// `wantsDeletionReason`: why a zone is gone.
    package var wantsDeletionReason = false
    /// `extendedLimits`: a `resultsLimit` above 200 is meant.
    package var hasExtendedLimits = false
    /// `wantsRestorePoint`: up to where a backup has taken the server back.
    package var wantsRestorePoint = false
    /// `wantsDeletions`: also the deletions of before that.
    package var wantsDeletions = false
    /// `wantsOwnerIdentity`: who shares a zone of the shared database.
    package var wantsOwnerIdentity = false
    /// `wantsQuota`: how much room there is for what is written into the zones of a database.
    package var wantsQuota = false
    /// `wantsInvitations`: to what the asker is invited and has not accepted.
    package var wantsInvitations = false
    /// `knownDatabaseSyncToken`: how far the asker for the changes of one zone knows the feed of the
    /// database. Where only that zone has news since, the answer has the token behind them.
    package var knownDatabaseToken: Text?
    /// `wantsMoves`: where a record that is gone has been moved.
    package var wantsMoves = false
    /// `invitationsMarker`: where the next page of them begins, as an answer has said.
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
