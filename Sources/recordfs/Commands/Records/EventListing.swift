import RecordControl
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree

/// A change, or an exchange with the server, as the list shows it.
struct EventLine {
    let members: [JSONMember]
    let text: String
}

/// Reads the changes of a store, or its exchanges with the server, page by page.
struct EventListing {
    /// The times between which changes are listed.
    struct Span {
        var after: Timestamp?
        var before: Timestamp?

        func contains(_ time: Timestamp) -> Bool {
            if let after, time <= after { return false }
            if let before, time >= before { return false }
            return true
        }
    }

    let store: RecordStore
    let filter: EventFilter
    let isSync: Bool
    var span = Span()
    /// Indicates whether an exchange that runs is listed.
    var showsRunning = true
    /// The token of the last change that was read.
    var token: Int64 = 0
    private var zones: [ZoneID: SyncedZone] = [:]

    /// The number of changes that are read at a time.
    private static let page = 1_000

    init(store: RecordStore, filter: EventFilter, isSync: Bool) {
        (self.store, self.filter, self.isSync) = (store, filter, isSync)
    }

    /// Returns the token of the newest change.
    func newest() throws(RecordError) -> Int64 {
        try isSync ? store.syncState.lastSyncEvent() : store.past.lastToken()
    }

    /// Reads the next page. Returns whether there may be another one, and whether it is wanted.
    ///
    /// - Parameter show: returns whether more lines are wanted.
    mutating func next(_ show: (EventLine) -> Bool) throws(RecordError) -> Bool {
        try isSync ? nextExchanges(show) : nextChanges(show)
    }

    private mutating func zone(_ id: ZoneID) throws(RecordError) -> SyncedZone? {
        if zones[id] == nil { zones[id] = try store.syncState.syncedZone(id) }
        return zones[id]
    }

    private mutating func nextChanges(
        _ show: (EventLine) -> Bool
    ) throws(RecordError) -> Bool {
        let changes = try store.past.versions(after: token, limit: Self.page)
        for (version, id) in changes {
            token = version.token
            guard span.contains(version.at) else { continue }
            let zone = try zone(id)
            guard filter.takes(version, in: zone) else { continue }
            let named = store.model.named(version)
            if !show(named.eventLine(named.path(in: zone))) { return false }
        }
        return changes.count == Self.page
    }

    private mutating func nextExchanges(
        _ show: (EventLine) -> Bool
    ) throws(RecordError) -> Bool {
        let events = try store.syncState.syncEvents(after: token, limit: Self.page)
        for event in events {
            token = event.id
            guard span.contains(event.time), showsRunning || !event.isRunning else { continue }
            let place = if let id = event.zone { try zone(id) } else { SyncedZone?.none }
            guard filter.takes(event, in: place) else { continue }
            if !show(event.line(in: place)) { return false }
        }
        return events.count == Self.page
    }
}

extension SyncEvent {
    fileprivate func line(in zone: SyncedZone?) -> EventLine {
        let path = RecordPath(
            database: database, owner: zone?.shownOwner ?? .me, zone: zone?.name,
            type: zone == nil ? nil : record?.type,
            item: zone == nil ? nil : record.map { .record(Stem(encoding: $0.name)) }
        ).description
        let what =
            isRunning ? "running" : error ?? Showing.count(Int(clamping: records), "record")
        return EventLine(
            members: members + [JSONMember(key: "path", value: .text(path))],
            text: "\(id)  \(Showing.time(time))  \(kind.rawValue.padded(to: 6))  \(path)  \(what)")
    }
}

extension Version {
    /// Returns the path of the record, also in a zone that was removed since.
    func path(in zone: SyncedZone?) -> String {
        RecordPath(
            database: zone?.database, owner: zone?.shownOwner ?? .me, zone: zone?.name,
            type: type, item: .record(Stem(encoding: name))
        ).description
    }

    func line(_ path: String) -> String {
        let author = shownAuthor.padded(to: 7)
        let kind = kind.rawValue.padded(to: 8)
        let changed = fields.isEmpty ? "" : "  (\(shownFields))"
        return "\(token)  \(Showing.time(at))  \(author)  \(kind)  \(path)\(changed)"
    }

    /// The first fields that differ from the version before, for people.
    var shownFields: String { fields.map(\.description).firstFew }

    /// The members that say who made the change.
    var authorMembers: [JSONMember] {
        var members = [JSONMember(key: "author", value: .text(shownAuthor))]
        if program != nil {
            members.append(JSONMember(key: "origin", value: .text(author.rawValue)))
        }
        return members
    }

    /// The members that say what the change was part of, and which fields it has changed.
    var changeMembers: [JSONMember] {
        [
            JSONMember(key: "transaction", value: .integer(transaction)),
            JSONMember(key: "fields", value: .array(fields.map { .text($0.bytes) })),
        ]
    }

    fileprivate func eventLine(_ path: String) -> EventLine {
        EventLine(
            members: [
                JSONMember(key: "token", value: .integer(token)),
                JSONMember(key: "time", value: .text(Showing.time(at))),
            ] + authorMembers + [
                JSONMember(key: "change", value: .text(kind.rawValue)),
                JSONMember(key: "path", value: .text(path)),
                JSONMember(key: "size", value: .integer(size)),
            ] + changeMembers, text: line(path))
    }
}
