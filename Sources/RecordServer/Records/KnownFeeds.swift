import RecordModel
import RecordWire

/// Feeds of which a request that writes says that it knows all, and which it does: then its client knows
/// all afterwards too, but for what the request has brought about.
struct KnownFeeds {
    private let access: ZoneAccess
    private let seal: Seal
    private let zone: ZoneToken
    /// Nil when the client does not know the feed of the database to its end.
    private let database: (key: DatabaseKey, token: DatabaseToken)?

    /// Nil when there is something in the feed of the zone that the client does not know, or it does not
    /// ask. To be made before anything is written.
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

    /// The tokens behind what was written; nil when the zone has more than that.
    ///
    /// - Parameter count: of the places that its records have got.
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
    /// The place in the feed of the database behind the changes of one zone, which are all told; nil when
    /// another zone has news since `known`, or that is not good.
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
