import RecordModel
import RecordSQL

/// What makes a restored server another one than that of the lost time.
///
/// A new incarnation of the server ends all sealed tokens but those of sessions, so that every
/// client asks from the beginning and finds out what is lost, zones of its own and of others too.
/// Positions go on far behind those that the lost time can have given, in the zones that are there
/// and in those that clients make again, so that no change tag stands for two contents.
struct RestoreRenewal {
    /// No zone takes as many changes between two backups.
    static let positionGap: Int64 = 1 << 32

    let connection: SQLConnection
    let now: Timestamp

    func renew(keepsSessions: Bool) throws(RecordError) {
        try connection.run("BEGIN IMMEDIATE")
        try put(ServerSetting.incarnation, SecureRandom.bytes(16))
        try movePositions()
        try renewZones()
        try renewViews()
        try endLinks()
        if !keepsSessions { try endSessions() }
        try connection.run("COMMIT")
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
        // A backup may be restored twice: what was given after the first time must not come again
        // after the second, also within seconds. No zone takes a change in each nanosecond.
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

    /// One-time links that somebody has used since the backup would let in one more.
    private func endLinks() throws(RecordError) {
        try connection.run(
            "DELETE FROM participants WHERE user IS NULL AND link IS NOT NULL")
    }

    /// Those that were ended since the backup would be good again. With a new key nobody who has
    /// the backup can make a token either.
    private func endSessions() throws(RecordError) {
        try put(ServerSetting.sealKey, SecureRandom.bytes(32))
        for table in ["sessions", "push_frames", "push_devices"] {
            try connection.run("DELETE FROM \(table)")
        }
    }
}
