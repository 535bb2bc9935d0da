import RecordModel
import RecordSQL
import RecordServerCore

/// The changes that distinguish a restored server from the server of the lost time.
///
/// A new incarnation of the server ends all sealed tokens except those of sessions. Every client
/// therefore asks from the beginning and notices the losses, including its own zones and those of
/// others. Positions continue far behind those that the lost time can have given, in the
/// existing zones and in those that clients make again, so that no change tag stands for two
/// contents.
struct RestoreRenewal {
    /// The distance by which positions move. No zone takes as many changes between two backups.
    static let positionGap: Int64 = 1 << 32

    let connection: SQLConnection
    let now: Timestamp

    /// Makes the changes. The caller runs it in one transaction.
    func renew(keepsSessions: Bool) throws(RecordError) {
        try put(ServerSetting.incarnation, SecureRandom.bytes(16))
        try movePositions()
        try renewZones()
        try renewViews()
        try endLinks()
        if !keepsSessions { try endSessions() }
    }

    private func put(_ setting: String, _ value: [UInt8]) throws(RecordError) {
        try connection.run(
            "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
            [.text(setting), .blob(value)])
    }

    private func movePositions() throws(RecordError) {
        let stored = try connection.first(
            "SELECT value FROM settings WHERE name = ?", [.text(ServerSetting.firstPosition)]
        ) { $0.bytes(0) }
        var reader = ByteReader(stored ?? [])
        // A backup may be restored twice. Positions that were given after the first restore must
        // not be given again after the second, even when only seconds lie between them. No zone
        // takes a change in each nanosecond.
        let behind = (reader.int64() ?? 0) + Self.positionGap
        let first = max(behind + Int64.random(in: 0..<Self.positionGap), now.nanoseconds)
        var bytes = ByteWriter()
        bytes.append(first)
        try put(ServerSetting.firstPosition, bytes.bytes)
        try connection.run(
            "UPDATE zones SET position = max(position, ?)", [.integer(first)])
    }

    private func renewZones() throws(RecordError) {
        for zone in try connection.all("SELECT id FROM zones", [], { $0.int64(0) }) {
            try connection.run(
                "UPDATE zones SET incarnation = ? WHERE id = ?",
                [.incarnation(SecureRandom.incarnation()), .integer(zone)])
        }
    }

    private func renewViews() throws(RecordError) {
        let views = try connection.all("SELECT viewer, zone FROM shared_zones") {
            (viewer: $0.bytes(0), zone: $0.int64(1))
        }
        for view in views {
            try connection.run(
                "UPDATE shared_zones SET incarnation = ? WHERE viewer = ? AND zone = ?",
                [
                    .incarnation(SecureRandom.incarnation()), .blob(view.viewer),
                    .integer(view.zone),
                ])
        }
    }

    /// Removes unused one-time links. A link that somebody has used since the backup would let in
    /// one more person.
    private func endLinks() throws(RecordError) {
        try connection.run(
            "DELETE FROM participants WHERE user IS NULL AND link IS NOT NULL")
    }

    /// Ends all sessions. Sessions that were ended since the backup would otherwise be valid again.
    /// With the new key, nobody with the backup can make a token either.
    private func endSessions() throws(RecordError) {
        try put(ServerSetting.sealKey, SecureRandom.bytes(32))
        for table in ["sessions", "push_frames", "push_devices"] {
            try connection.run("DELETE FROM \(table)")
        }
    }
}
