package import RecordModel
import RecordSQL

extension SharedContent {
    /// Keeps all invitations to this account, newest first, instead of those that were known
    /// before. New invitations are reported. An invitation that was withdrawn or has changed must
    /// leave nothing on the disk.
    package func setInvitations(_ invitations: [Invitation]) throws(RecordError) {
        let before = try transaction.connection.sync.invitations()
        try keep(invitations)
        if !Set(before).isSubset(of: invitations) { try markForScrub() }
        let known = Set(before.map(\.id))
        // After a known invitation there are only invitations that the server did not report
        // before, because there were more.
        let new = invitations.prefix { !known.contains($0.id) }
        note(new.map { ShareNews(invited: $0) })
    }

    /// Removes an invitation that this account has accepted or declined.
    package func removeInvitation(_ id: Text) throws(RecordError) {
        let before = try transaction.connection.sync.invitations()
        let rest = before.filter { $0.id != id }
        guard rest.count < before.count else { return }
        try keep(rest)
        note([])
    }

    /// Stores the invitations. All of them are one row of `meta`.
    private func keep(_ invitations: [Invitation]) throws(RecordError) {
        let list = JSONValue.array(
            invitations.map { ["id": .string($0.id), "share": $0.json] })
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('invitations', ?)",
            [.blob(list.serialized())])
    }

    /// Reports news without a zone: an invitation has no zone here.
    private func note(_ news: [ShareNews]) { note(news, of: ZoneID(0)) }
}

extension SyncRows {
    fileprivate func invitations() throws(RecordError) -> [Invitation] {
        let text = try connection.first("SELECT value FROM meta WHERE key = 'invitations'", []) {
            $0.bytes(0)
        }
        guard let text else { return [] }
        return (try JSONParser.parse(text).array ?? []).compactMap { entry in
            guard let id = entry["id"]?.string, let json = entry["share"] else { return nil }
            return Invitation(id: id, json: json)
        }
    }
}

extension SharedZones {
    /// Returns the invitations that this account has not accepted, as the server last reported
    /// them, newest first.
    package func invitations() throws(RecordError) -> [Invitation] {
        try store.read { connection throws(RecordError) in try connection.sync.invitations() }
    }
}
