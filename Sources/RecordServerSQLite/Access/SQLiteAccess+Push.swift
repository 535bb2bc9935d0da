import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SubscriptionKey {
    fileprivate var values: [SQLValue] {
        container.values + [.integer(scope.number), .name(user)]
    }
}

extension SQLiteAccess {
    private static let ofKey = "container = ? AND environment = ? AND scope = ? AND user = ?"

    func subscription(
        _ key: SubscriptionKey, _ id: Text
    ) throws(ServerError) -> SubscriptionRow? {
        try first(
            "SELECT dictionary FROM subscriptions WHERE \(Self.ofKey) AND id = ?",
            key.values + [.text(id)]
        ) { SubscriptionRow(key: key, subscriptionID: id, dictionary: $0.bytes(0)) }
    }

    func subscriptions(_ key: SubscriptionKey) throws(ServerError) -> [SubscriptionRow] {
        try all(
            "SELECT id, dictionary FROM subscriptions WHERE \(Self.ofKey) ORDER BY id",
            key.values
        ) { SubscriptionRow(key: key, subscriptionID: $0.value(0), dictionary: $0.bytes(1)) }
    }

    func publicSubscriptions(
        _ container: ContainerKey
    ) throws(ServerError) -> [SubscriptionRow] {
        try all(
            """
            SELECT user, id, dictionary FROM subscriptions
            WHERE container = ? AND environment = ? AND scope = ? ORDER BY user, id
            """, container.values + [.integer(DatabaseScope.public.number)]
        ) {
            SubscriptionRow(
                key: SubscriptionKey(container: container, user: $0.name(0), scope: .public),
                subscriptionID: $0.value(1), dictionary: $0.bytes(2))
        }
    }

    func putSubscription(_ row: SubscriptionRow) throws(ServerError) {
        try run(
            """
            INSERT OR REPLACE INTO subscriptions
                (container, environment, scope, user, id, dictionary)
            VALUES (?, ?, ?, ?, ?, ?)
            """, row.key.values + [.text(row.subscriptionID), .blob(row.dictionary)])
    }

    func deleteSubscription(_ key: SubscriptionKey, _ id: Text) throws(ServerError) {
        try run(
            "DELETE FROM subscriptions WHERE \(Self.ofKey) AND id = ?", key.values + [.text(id)])
    }

    private static let deviceColumns = """
        courier_hash, container, environment, user, client, apns_environment, apns_token,
        registered, last_seen, credential
        """

    private static func device(_ row: SQLStatement) -> PushDeviceRow {
        var device = PushDeviceRow(
            courierHash: row.value(0),
            container: ContainerKey(
                container: row.value(1), environment: ServerEnvironment(number: row.int64(2))),
            user: row.name(3), credential: row.value(9), clientID: row.value(4),
            apnsEnvironment: row.value(5),
            apnsToken: row.value(6), lastSeenMilliseconds: row.int64(8))
        device.isRegistered = row.bool(7)
        return device
    }

    func pushDevice(courierHash: Text) throws(ServerError) -> PushDeviceRow? {
        try first(
            "SELECT \(Self.deviceColumns) FROM push_devices WHERE courier_hash = ?",
            [.text(courierHash)], Self.device)
    }

    func pushDevices(
        _ container: ContainerKey, _ user: UserName
    ) throws(ServerError) -> [PushDeviceRow] {
        try all(
            """
            SELECT \(Self.deviceColumns) FROM push_devices
            WHERE container = ? AND environment = ? AND user = ? ORDER BY id
            """, container.values + [.name(user)], Self.device)
    }

    func devicesWithFrames(among courierHashes: [Text]) throws(ServerError) -> [Text] {
        var found: [Text] = []
        for hash in courierHashes {
            let hasFrame = try exists(
                """
                SELECT 1 FROM push_devices d CROSS JOIN push_frames f ON f.device = d.id
                WHERE d.courier_hash = ? LIMIT 1
                """, [.text(hash)])
            if hasFrame { found.append(hash) }
        }
        return found
    }

    func removePushDevices(
        lastSeenBefore milliseconds: Int64, at now: Int64
    ) throws(ServerError) {
        try removeDevices(
            "SELECT id FROM push_devices WHERE last_seen < ?", [.integer(milliseconds)])
        try removeDevices("\(Self.devicesOfSessions) s.revoked = 1")
        try removeDevicesOfSessions(expiredBefore: now)
        try removeDevices(
            """
            SELECT d.id FROM server_keys k CROSS JOIN push_devices d ON d.credential = k.id
            WHERE k.revoked = 1
            """)
    }

    func removeDevicesOfSessions(expiredBefore milliseconds: Int64) throws(ServerError) {
        try removeDevices("\(Self.devicesOfSessions) s.expires < ?", [.integer(milliseconds)])
    }

    private static let devicesOfSessions = """
        SELECT d.id FROM sessions s CROSS JOIN push_devices d ON d.credential = s.id WHERE
        """

    private func removeDevices(
        _ selection: String, _ values: [SQLValue] = []
    ) throws(ServerError) {
        try run("DELETE FROM push_frames WHERE device IN (\(selection))", values)
        try run("DELETE FROM push_devices WHERE id IN (\(selection))", values)
    }

    func putPushDevice(_ device: PushDeviceRow) throws(ServerError) {
        try run(
            """
            INSERT INTO push_devices (\(Self.deviceColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (courier_hash) DO UPDATE SET
                container = excluded.container, environment = excluded.environment,
                user = excluded.user, client = excluded.client,
                apns_environment = excluded.apns_environment, apns_token = excluded.apns_token,
                registered = excluded.registered, last_seen = excluded.last_seen
            """,
            [
                .text(device.courierHash), .text(device.container.container),
                .integer(device.container.environment.number), .name(device.user),
                .text(device.clientID), .text(device.apnsEnvironment), .text(device.apnsToken),
                .bool(device.isRegistered), .integer(device.lastSeenMilliseconds),
                .text(device.credential),
            ])
    }

    func deletePushDevice(courierHash: Text) throws(ServerError) {
        guard let device = try pushDeviceNumber(courierHash) else { return }
        try run("DELETE FROM push_frames WHERE device = ?", [.integer(device)])
        try run("DELETE FROM push_devices WHERE id = ?", [.integer(device)])
    }

    private func pushDeviceNumber(_ courierHash: Text) throws(ServerError) -> Int64? {
        try first(
            "SELECT id FROM push_devices WHERE courier_hash = ?", [.text(courierHash)]
        ) { $0.int64(0) }
    }

    func enqueueFrame(
        courierHash: Text, _ frame: [UInt8], limit: Int
    ) throws(ServerError) {
        guard let device = try pushDeviceNumber(courierHash) else { return }
        try run(
            "INSERT INTO push_frames (device, frame) VALUES (?, ?)",
            [.integer(device), .blob(frame)])
        try run(
            """
            DELETE FROM push_frames WHERE id IN (
                SELECT id FROM push_frames WHERE device = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.integer(device), .limit(limit)])
    }

    func dequeueFrame(courierHash: Text) throws(ServerError) -> [UInt8]? {
        guard let device = try pushDeviceNumber(courierHash) else { return nil }
        let oldest = try first(
            "SELECT id, frame FROM push_frames WHERE device = ? ORDER BY id LIMIT 1",
            [.integer(device)]
        ) { ($0.int64(0), $0.bytes(1)) }
        guard let (id, frame) = oldest else { return nil }
        try run("DELETE FROM push_frames WHERE id = ?", [.integer(id)])
        return frame
    }
}
