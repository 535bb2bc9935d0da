package import RecordModel
package import RecordServerCore
package import RecordWire

/// The summary of a user for an operator.
package struct UserSummary: Sendable {
    package let user: UserRow
    /// The bytes in the private databases. A nil `quotaBytes` of the user stands for the server's
    /// default.
    package let usedBytes: Int64
    package let zoneCount: Int
    package let recordCount: Int64
    /// The number of shares that others see of this user.
    package let shareCount: Int
    /// The number of zones of others that this user sees.
    package let sharedZoneCount: Int
    package let sessionCount: Int
    package let keyCount: Int
    package let lastSignInMilliseconds: Int64?
}

/// The things that are removed, or would be, with an account or a container.
package struct Removal: Sendable, Hashable {
    package var zones = 0
    package var records: Int64 = 0
    package var shares = 0
    package var sharesOfOthers = 0
    package var tokens = 0
    package var keys = 0
    package var sessions = 0
}

extension Accounts {
    /// Returns the summary of a user. Errors: `notFound`.
    package func summary(of name: Text, now: Timestamp) async throws(ServerError) -> UserSummary {
        try await storage.read { (reader) throws(ServerError) in
            try Self.summary(of: try reader.findUser(name), now, reader)
        }
    }

    private static func summary(
        of user: UserRow, _ now: Timestamp, _ reader: any StorageReader
    ) throws(ServerError) -> UserSummary {
        let zones = try zones(of: user.name, reader)
        var shareCount = 0
        for zone in zones { shareCount += try reader.shares(zone.key).count }
        var (sharedCount, keyCount) = (0, 0)
        for container in try reader.containers() {
            keyCount += try reader.serverKeys(container).count {
                $0.user == user.name && !$0.isRevoked
            }
        }
        for container in try ContainerKey.all(reader) {
            sharedCount += try reader.sharedZones(user.name, container).count
        }
        let milliseconds = now.nanoseconds / 1_000_000
        let events = try reader.accountEvents(user.name, limit: AccountEvent.limit)
        return UserSummary(
            user: user, usedBytes: try reader.usedBytes(.user(user.name)),
            zoneCount: zones.count, recordCount: zones.reduce(0) { $0 + $1.recordCount },
            shareCount: shareCount, sharedZoneCount: sharedCount,
            sessionCount: try reader.sessions(user.name).count {
                !$0.isRevoked && $0.expiresMilliseconds >= milliseconds
            }, keyCount: keyCount,
            lastSignInMilliseconds: events.first { $0.kind == .signedIn }?.milliseconds)
    }

    /// Returns the bytes in the private databases of each user.
    package func usedBytes() async throws(ServerError) -> [UserName: Int64] {
        try await storage.read { (reader) throws(ServerError) in
            var used: [UserName: Int64] = [:]
            for user in try reader.users() {
                used[user.name] = try reader.usedBytes(.user(user.name))
            }
            return used
        }
    }

    static func zones(
        of user: UserName, _ reader: any StorageReader
    ) throws(ServerError) -> [ZoneRow] {
        var zones: [ZoneRow] = []
        for database in try reader.databases(of: user) { zones += try reader.zones(database) }
        return zones
    }

    /// Gives a user another e-mail address. A link for a new password ends. Errors: `notFound`,
    /// `badRequest` for an invalid address, `exists` for an address of another user.
    package func setEmailAddress(
        of name: Text, to address: Text, now: Timestamp
    ) async throws(ServerError) -> UserRow {
        let folded = EmailAddress.folded(address)
        guard EmailAddress.isWellFormed(folded) else {
            throw ServerError(.badRequest, "This is no e-mail address.")
        }
        return try await storage.write { (transaction) throws(ServerError) in
            var user = try transaction.findUser(name)
            user.emailAddress = folded
            try transaction.putUser(user)
            try transaction.putSetting(ServerSetting.passwordReset(of: user.name), [])
            try transaction.addAccountEvent(
                AccountEvent(
                    user: user.name, kind: .emailChanged,
                    milliseconds: now.nanoseconds / 1_000_000))
            return user
        }
    }

    // MARK: Removing

    /// Returns the things that `deleteUser` would remove. Errors: `notFound`.
    package func removal(ofUser name: Text) async throws(ServerError) -> Removal {
        try await storage.read { (reader) throws(ServerError) in
            try Self.removal(of: try reader.findUser(name), reader)
        }
    }

    private static func removal(
        of user: UserRow, _ reader: any StorageReader
    ) throws(ServerError) -> Removal {
        var removal = Removal()
        for zone in try zones(of: user.name, reader) {
            removal.zones += 1
            removal.records += zone.recordCount
            removal.shares += try reader.shares(zone.key).count
        }
        for container in try ContainerKey.all(reader) {
            for shared in try reader.sharedZones(user.name, container) {
                removal.sharesOfOthers += shared.shares.count
            }
        }
        for container in try reader.containers() {
            removal.keys += try reader.serverKeys(container).count { $0.user == user.name }
        }
        removal.sessions = try reader.sessions(user.name).count { !$0.isRevoked }
        return removal
    }

    /// Removes an account with its private databases, its shares and its credentials, at once for
    /// everybody. The account also leaves the shares of others. Its records in public databases and
    /// in zones of others stay. Their creator is then no user any more.
    ///
    /// Errors: `notFound`; `badRequest` for the last administrator.
    package func deleteUser(_ name: Text, now: Timestamp) async throws(ServerError) -> Removal {
        let seed = RandomIDs()
        return try await storage.write { (transaction) throws(ServerError) in
            let user = try transaction.findUser(name)
            let others = try transaction.users().filter { $0.isAdministrator && !$0.isDisabled }
            guard !user.isAdministrator || others.contains(where: { $0.name != user.name }) else {
                throw ServerError(
                    .badRequest,
                    "This is the only administrator: make another one first (`user change --admin`)."
                )
            }
            let removal = try Self.removal(of: user, transaction)
            var ids = seed
            let stamp = WriteStamp(
                milliseconds: now.nanoseconds / 1_000_000, user: user.name, device: "")
            for container in try ContainerKey.all(transaction) {
                for shared in try transaction.sharedZones(user.name, container) {
                    try Self.leave(shared, user.name, stamp, &ids, transaction)
                }
            }
            for zone in try Self.zones(of: user.name, transaction) {
                guard let row = try transaction.lockZone(zone.key) else { continue }
                try ShareRules.endViews(of: zone.key, reason: .purged, transaction)
                try transaction.deleteZone(row, reason: .purged)
            }
            try transaction.removeUser(user.name)
            try transaction.putSetting(ServerSetting.passwordReset(of: user.name), [])
            return removal
        }
    }

    /// Removes the user from every share of another user's zone, whose other participants see the
    /// shares change.
    private static func leave(
        _ shared: SharedZoneRow, _ user: UserName, _ stamp: WriteStamp, _ ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        for name in shared.shares {
            guard let zone = try transaction.lockZone(shared.zone),
                let share = try transaction.share(shared.zone, name)
            else { continue }
            _ = try ShareRules.save(
                ShareRules.leave(share, user), old: share, zone: zone, stamp: stamp, ids: &ids,
                transaction)
        }
    }

    /// Returns the things that `deleteContainer` would remove. Errors: `notFound`.
    package func removal(ofContainer name: Text) async throws(ServerError) -> Removal {
        try await storage.read { (reader) throws(ServerError) in
            try Self.removal(ofContainer: name, reader)
        }
    }

    private static func removal(
        ofContainer name: Text, _ reader: any StorageReader
    ) throws(ServerError) -> Removal {
        guard try reader.containers().contains(name) else {
            throw ServerError(.notFound, "There is no such container on this server.")
        }
        let counts = try reader.counts(of: name)
        var removal = Removal()
        (removal.zones, removal.records) = (Int(clamping: counts.zones), counts.records)
        removal.tokens = Int(clamping: counts.tokens)
        removal.keys = Int(clamping: counts.keys)
        removal.sessions = Int(clamping: counts.sessions)
        return removal
    }

    /// Removes a container with both environments: the records of all users in it, its tokens,
    /// keys, sign-ins and schemas. Errors: `notFound`.
    package func deleteContainer(_ name: Text) async throws(ServerError) -> Removal {
        try await storage.write { (transaction) throws(ServerError) in
            let removal = try Self.removal(ofContainer: name, transaction)
            for environment in ServerEnvironment.allCases {
                try transaction.erase(
                    ContainerKey(container: name, environment: environment), reason: .purged)
            }
            try transaction.removeContainer(name)
            try transaction.putSetting(ServerSetting.title(of: name), [])
            return removal
        }
    }

    // MARK: Reports, tokens and the seal

    /// Returns the reports, the newest first, each with the number that dismisses it.
    package func reports() async throws(ServerError) -> [(number: Int64, report: ShareReport)] {
        try await storage.read { (reader) throws(ServerError) in
            try reader.numberedShareReports(limit: ShareReport.limit).map { ($0.number, $0.1) }
        }
    }

    /// Dismisses a report. Errors: `notFound`.
    package func dismissReport(_ number: Int64) async throws(ServerError) {
        try await storage.write { (transaction) throws(ServerError) in
            guard try transaction.removeShareReport(number) else {
                throw ServerError(.notFound, "There is no report \(number).")
            }
        }
    }

    /// Makes an API token in place of another one, which is revoked: with the same name,
    /// environment, callback and origins. Sign-ins that were made with the old one continue with
    /// the new one. Errors: `notFound`, `badRequest` for a beginning that several tokens have.
    package func replaceAPIToken(
        _ container: Text, _ identifier: Text, now: Timestamp
    ) async throws(ServerError) -> (token: Text, row: APITokenRow) {
        let token = Secret.make()
        let row = try await storage.write { (transaction) throws(ServerError) in
            var old = try Self.apiToken(container, identifier, transaction)
            let new = APITokenRow(
                hash: Secret.hash(token), container: old.container, name: old.name,
                callbackURL: old.callbackURL, allowedOrigins: old.allowedOrigins,
                createdMilliseconds: now.nanoseconds / 1_000_000)
            old.isRevoked = true
            try transaction.putAPIToken(old)
            try transaction.putAPIToken(new)
            return new
        }
        return (token, row)
    }

    /// Returns an API token. Errors: as `replaceAPIToken`.
    package func apiToken(_ container: Text, _ identifier: Text) async throws(ServerError)
        -> APITokenRow
    {
        try await storage.read { (reader) throws(ServerError) in
            try Self.apiToken(container, identifier, reader)
        }
    }
}

extension SealKey {
    /// Makes a new secret. Everything that was sealed with the old one is refused from then on:
    /// sign-ins, sync tokens, upload and download URLs, receipts. No server may run meanwhile,
    /// because it keeps the secret in memory. Returns how many sign-ins ended.
    package static func replace(_ storage: any Storage) async throws(ServerError) -> Int {
        let (key, incarnation) = (SecureRandom.bytes(32), SecureRandom.bytes(16))
        return try await storage.write { (transaction) throws(ServerError) in
            var count = 0
            for user in try transaction.users() {
                count += try transaction.endSessions(of: user.name)
            }
            try transaction.putSetting(ServerSetting.sealKey, key)
            try transaction.putSetting(ServerSetting.incarnation, incarnation)
            return count
        }
    }
}
