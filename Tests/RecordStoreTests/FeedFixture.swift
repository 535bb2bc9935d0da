import RecordModel
import RecordStore
import RecordStoreSync

/// Pages of the server's feeds, as short as a test needs them.
extension StoreFixture {
    /// A record with one number, as the server reports it.
    static func told(
        _ name: String, n: Int64, parent: String? = nil, type: String = "Note", tag: String = "r1"
    ) -> RemoteChange {
        RemoteChange(
            type: RecordTypeName(type), name: RecordName(name),
            operation: .upsert(
                [RecordField(name: FieldName("n"), value: .int64(n))],
                parent: parent.map { RecordName($0) }), changeTag: tag, modifiedBy: "_other")
    }

    static func gone(_ name: String) -> RemoteChange { RemoteChange(deleted: RecordName(name)) }

    func page(
        _ changes: [RemoteChange], token: String? = nil, isLast: Bool = false,
        passedOver: [PassedOver] = [], shares: [Share] = [], in zone: ZoneID? = nil
    ) -> RemotePage {
        var page = RemotePage(
            zone: zone ?? self.zone.id, changes: changes, token: token.map { Array($0.utf8) },
            isLast: isLast)
        page.passedOver = passedOver
        page.shares = shares
        return page
    }

    @discardableResult
    func apply(_ page: RemotePage) throws(RecordError) -> [RemoteResult.Outcome] {
        try feed { (feed) throws(RecordError) in try feed.applyRemote(page).map(\.outcome) }
    }

    /// One transaction of the exchange.
    @discardableResult
    func feed<T>(_ body: (FeedApplying) throws(RecordError) -> T) throws(RecordError) -> T {
        try write(.sync) { transaction throws(RecordError) in try body(transaction.feed) }
    }

    func token(of zone: ZoneID? = nil) throws(RecordError) -> String? {
        try store.syncState.feedToken(of: .zone(zone ?? self.zone.id)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The names of a type's records, as a listing shows them.
    func names(_ type: TypeID? = nil) throws(RecordError) -> [String] {
        try store.records(in: type ?? note, limit: 1000).map(\.stem.description).sorted()
    }

    func conflicts() throws(RecordError) -> [String] {
        try store.syncState.conflicts(in: zone.id).map(\.stem.description).sorted()
    }

    func trashed() throws(RecordError) -> [String] {
        try store.past.trash(in: note).map(\.stem.description).sorted()
    }

    /// A zone of another user, with the type Note, that the server reports.
    func sharedZone(
        _ name: String = "Theirs", owner: String = "_ann", address: String? = nil
    ) throws(RecordError) -> (zone: ZoneInfo, note: TypeID) {
        try write(.sync) { transaction throws(RecordError) in
            let zone = try transaction.feed.makeSharedZone(
                of: OwnerName(owner), address: address.map { OwnerName($0) }, ZoneName(name))
            return (zone, try transaction.makeType(zone.id, RecordTypeName("Note")).id)
        }
    }
}
