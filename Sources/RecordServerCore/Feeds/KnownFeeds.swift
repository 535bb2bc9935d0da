import RecordModel
import RecordWire

/// The feeds that a writing request claims to know completely, when the claim is true. Its client
/// then knows everything afterwards too, except the further effects of the request.
struct KnownFeeds {
    private let access: ZoneAccess
    private let seal: Seal
    private let zone: ZoneToken
    /// The feed of the database. It is nil when the client does not know it to its end.
    private let database: (key: DatabaseKey, token: DatabaseToken)?

    /// Checks the claim of a request. Returns nil when the feed of the zone has something that the
    /// client does not know, or when the client makes no claim. Call it before anything is written.
    init?(
        _ request: ModifyRequest, _ access: ZoneAccess, _ context: OperationContext, _ seal: Seal,
        _ reader: any StorageReader
    ) throws(ServerError) {
        guard let known = request.knownToken, context.scope == .private,
            context.dialect == .webServices
        else { return nil }
        do throws(ServerError) {
            zone = try ZoneToken.open(known, access: access, seal: seal)
        } catch {
            guard !error.isFault else { throw error }
            return nil
        }
        guard zone.position == access.zone.position else { return nil }
        self.access = access
        self.seal = seal
        database = try Self.database(request.knownDatabaseToken, access, seal, reader)
    }

    private static func database(
        _ known: Text?, _ access: ZoneAccess, _ seal: Seal, _ reader: any StorageReader
    ) throws(ServerError) -> (key: DatabaseKey, token: DatabaseToken)? {
        guard let known else { return nil }
        let key = access.zone.key.database
        guard let feed = try reader.zoneFeed(key) else { return nil }
        do throws(ServerError) {
            let token = try DatabaseToken.open(known, database: key, feed: feed, seal: seal)
            return token.position == feed.position ? (key, token) : nil
        } catch {
            guard !error.isFault else { throw error }
            return nil
        }
    }

    /// Returns the tokens after the writes. Returns nil when the zone has more changes than these.
    ///
    /// - Parameter count: the number of places that the records have got.
    func after(
        _ count: Int, _ reader: any StorageReader
    ) throws(ServerError) -> (zone: Text, database: Text?)? {
        guard let row = try reader.zone(access.zone.key),
            row.position == access.zone.position + Int64(count)
        else { return nil }
        let now = ZoneAccess(zone: row, view: access.view, user: access.user, roots: access.roots)
        let token = ZoneToken(access: now, position: row.position, start: zone.start).sealed(seal)
        guard let database, let feed = try reader.zoneFeed(database.key) else {
            return (token, nil)
        }
        let next = DatabaseToken(position: feed.position, start: database.token.start)
        return (token, next.sealed(seal, database: database.key))
    }
}

extension DatabaseToken {
    /// Returns the token for the end of the feed of the database, after the changes of one zone
    /// that the client has received completely. Returns nil when another zone has news since
    /// `known`, or when `known` is not valid.
    static func behind(
        _ zone: ZoneKey, known: Text, _ seal: Seal, _ reader: any StorageReader
    ) throws(ServerError) -> Text? {
        let key = zone.database
        guard let feed = try reader.zoneFeed(key) else { return nil }
        let token: DatabaseToken
        do throws(ServerError) {
            token = try DatabaseToken.open(known, database: key, feed: feed, seal: seal)
        } catch {
            guard !error.isFault else { throw error }
            return nil
        }
        let changes = try reader.zoneChanges(
            key, after: token.position, start: token.start, limit: 2)
        guard changes.allSatisfy({ $0.key == zone && $0.deletion == nil }) else { return nil }
        return DatabaseToken(position: feed.position, start: token.start).sealed(
            seal, database: key)
    }
}
