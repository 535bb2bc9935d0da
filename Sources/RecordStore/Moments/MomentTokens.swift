import RecordModel
import RecordSQL

extension SQLConnection {
    /// Returns the last token that was given by a moment. Everything up to it had happened then.
    func token(at point: RestorePoint) throws(RecordError) -> Int64 {
        switch point {
        case .deletion: .max
        case .token(let token): token
        case .time(let time): try lastToken(by: time)
        case .named(let name): try token(of: name)
        case .gesture(let name): try lastToken(of: name)
        }
    }

    /// Returns the token of the last version of a gesture.
    private func lastToken(of name: GestureName) throws(RecordError) -> Int64 {
        let token = try first(
            """
            SELECT max(h.token) FROM gesture g JOIN history h
                ON h.token >= g.first_token AND h.gesture = g.id
            WHERE g.name = ?
            """, [.text(name.text)]
        ) { $0.int64IfPresent(0) }
        guard let token = token ?? nil else {
            throw RecordError(
                .notFound, "@\(name) has no version here. recordfs log --ids lists what has.")
        }
        return token
    }

    private func token(of name: MomentName) throws(RecordError) -> Int64 {
        let token = try first("SELECT token FROM moment WHERE name = ?", [.text(name.text)]) {
            $0.int64(0)
        }
        guard let token else {
            throw RecordError(
                .notFound, "there is no moment \(name). recordfs moment list shows their names.")
        }
        return token
    }

    /// Returns the token of the last version. Returns 0 before the first.
    func lastToken() throws(RecordError) -> Int64 {
        try first("SELECT COALESCE(MAX(token), 0) FROM history") { $0.int64(0) } ?? 0
    }

    /// Returns the token of the last version that was made by that time, 0 before the first. The token
    /// decides, because the clock may have been wrong for a while.
    func lastToken(by time: Timestamp) throws(RecordError) -> Int64 {
        try first(
            "SELECT token FROM history WHERE at <= ? ORDER BY token DESC LIMIT 1", [.time(time)]
        ) { $0.int64(0) } ?? 0
    }

    // MARK: Whole moments

    fileprivate static let removedBefore = "removedBefore"

    /// Returns the last token of a moment of which everything is kept.
    ///
    /// - Throws: notFound when versions that were shown then have been removed, or when there is no
    ///   moment with the name.
    func completeToken(at point: RestorePoint) throws(RecordError) -> Int64 {
        let token = try token(at: point)
        if case .named = point { return token }
        let first = try firstCompleteToken()
        guard token < first, try !moments().contains(where: { $0.token == token }) else {
            return token
        }
        throw RecordError(
            .notFound,
            "versions of that time are no longer kept. The earliest moment that is whole is "
                + "@\(first). To keep one for good, give it a name in time: recordfs moment create "
                + "NAME.")
    }

    fileprivate func firstCompleteToken() throws(RecordError) -> Int64 {
        try first("SELECT value FROM meta WHERE key = ?", [.text(Self.removedBefore)]) {
            $0.int64(0)
        } ?? 0
    }

    // MARK: Names

    func moments() throws(RecordError) -> [NamedMoment] {
        try all("SELECT name, token, at FROM moment ORDER BY token, name") { row in
            NamedMoment(
                name: MomentName(stored: row.string(0)), token: row.int64(1), at: row.time(2))
        }
    }
}

extension UpkeepWriting {
    /// Notes that versions are removed, of which the last one was shown until a token.
    func noteRemoved(before token: Int64) throws(RecordError) {
        let connection = transaction.connection
        guard try connection.firstCompleteToken() < token else { return }
        try connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            [.text(SQLConnection.removedBefore), .integer(token)])
    }
}
