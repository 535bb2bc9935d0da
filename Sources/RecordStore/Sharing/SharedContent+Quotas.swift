package import RecordModel
import RecordSQL

/// Quotas are rows of `meta`, one for each owner: `FREE` or `FREE TOTAL`, in bytes.
private enum QuotaRow {
    static func key(_ database: Database, _ owner: OwnerName) -> SQLValue {
        .text(prefix(database) + String(decoding: owner.bytes, as: UTF8.self))
    }

    static func prefix(_ database: Database) -> String { "quota \(database.name) " }

    static func value(_ quota: Quota) -> SQLValue {
        .text(
            ([quota.freeBytes] + [quota.totalBytes].compactMap(\.self))
                .map(String.init).joined(separator: " "))
    }

    static func quota(_ owner: OwnerName, _ value: String) -> Quota? {
        let numbers = value.split(separator: " ").map { Int64($0) }
        guard let free = numbers.first.flatMap(\.self) else { return nil }
        return Quota(
            owner: owner, totalBytes: numbers.count > 1 ? numbers[1] : nil, freeBytes: free)
    }
}

extension SharedContent {
    /// Stores everything that the server reports about the space for a database.
    package func setQuotas(_ quotas: [Quota], of database: Database) throws(RecordError) {
        let prefix = QuotaRow.prefix(database)
        try transaction.connection.run(
            "DELETE FROM meta WHERE substr(key, 1, ?) = ?",
            [.integer(Int64(prefix.utf8.count)), .text(prefix)])
        for quota in quotas {
            try transaction.connection.run(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                [QuotaRow.key(database, quota.owner), QuotaRow.value(quota)])
        }
    }
}

extension SharedZones {
    package func quotas(of database: Database) throws(RecordError) -> [Quota] {
        let prefix = QuotaRow.prefix(database)
        return try store.read { connection throws(RecordError) in
            try connection.all(
                "SELECT substr(key, ?1), value FROM meta WHERE substr(key, 1, ?1 - 1) = ?2",
                [.integer(Int64(prefix.utf8.count + 1)), .text(prefix)]
            ) { ($0.string(0), $0.string(1)) }
        }.compactMap { owner, value in
            QuotaRow.quota(OwnerName(bytes: Array(owner.utf8)), value)
        }
    }

    /// Returns the quota of the account itself. Returns nil where it is not known.
    package func ownQuota() throws(RecordError) -> Quota? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT value FROM meta WHERE key = ?", [QuotaRow.key(.private, .me)]
            ) { $0.string(0) }
        }.flatMap { QuotaRow.quota(.me, $0) }
    }

    /// Returns the quota of the user who shares the zone. Returns nil where it is not known.
    package func quota(ofOwnerOf zone: ZoneID) throws(RecordError) -> Quota? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT CAST(COALESCE(z.user, z.owner) AS TEXT), m.value FROM zone z JOIN meta m
                    ON m.key = ?2 || CAST(COALESCE(z.user, z.owner) AS TEXT)
                WHERE z.id = ?1
                """, [.integer(zone.rawValue), .text(QuotaRow.prefix(.shared))]
            ) { ($0.string(0), $0.string(1)) }
        }.flatMap { QuotaRow.quota(OwnerName(bytes: Array($0.utf8)), $1) }
    }
}
