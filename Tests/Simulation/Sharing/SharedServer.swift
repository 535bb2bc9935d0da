import RecordModel
import RecordServerCore
import RecordWire

/// What the record server has of the owner's zones, read behind its wire after each request.
struct SharedServer {
    struct Version: Hashable {
        let content: String
        let parent: String?
        let words: Set<String>
    }

    struct Zone {
        let incarnation: UInt64
        var position: Int64 = 0
        /// Those that are not deleted.
        var records: [String: Version] = [:]
    }

    struct Change {
        let key: Step.Key
        let old: Version?
        let new: Version?
    }

    private(set) var zones: [String: Zone] = [:]

    func version(of key: Step.Key) -> Version? { zones[key.zone]?.records[key.name] }

    /// - Returns: the records that have another content now; shares are no records here.
    ///
    /// - Parameter photos: large fields, by what the server calls them.
    mutating func read(
        _ name: String, _ reading: ServerWatch.Reading, _ photos: Photos
    ) -> [Change] {
        var changes: [Change] = []
        if let zone = zones[name], zone.incarnation != reading.row?.incarnation {
            zones[name] = nil
            changes = zone.records.sorted { $0.key < $1.key }.map {
                Change(key: Step.Key(zone: name, name: $0.key), old: $0.value, new: nil)
            }
        }
        guard let row = reading.row else { return changes }
        var zone = zones[name] ?? Zone(incarnation: row.incarnation)
        for entry in reading.changes {
            guard let (record, new) = Self.version(entry, photos) else { continue }
            let old = zone.records[record]
            zone.records[record] = new
            guard old != new else { continue }
            changes.append(Change(key: Step.Key(zone: name, name: record), old: old, new: new))
        }
        zone.position = row.position
        zones[name] = zone
        return changes
    }

    private static func version(
        _ entry: FeedEntry, _ photos: Photos
    ) -> (String, Version?)? {
        switch entry {
        case .gone(let name, _): return (name.description, nil)
        case .record(let record):
            guard record.type != .share else { return nil }
            guard !record.isDeleted else { return (record.name.description, nil) }
            let fields = String(decoding: record.fields, as: UTF8.self)
            let version = Version(
                content: "\(fields) \(record.fileText?.string ?? "")",
                parent: record.parent?.description,
                words: Set(Record.marks(in: fields) + photos.named(in: fields)))
            return (record.name.description, version)
        }
    }

    /// A record, what it is to hang on, and all that this hangs on.
    func chain(from key: Step.Key, below parent: String?) -> Set<Step.Key> {
        var chain: Set<Step.Key> = [key]
        var next = parent ?? version(of: key)?.parent
        while let name = next, chain.insert(Step.Key(zone: key.zone, name: name)).inserted {
            next = version(of: Step.Key(zone: key.zone, name: name))?.parent
        }
        return chain
    }

    /// The share that has a record: that of its zone, or of the first above it that is a root.
    func spot(of key: Step.Key, in model: ShareModel) -> SharedSpot? {
        let whole = SharedSpot(zone: key.zone, root: nil)
        if model.shares[whole] != nil { return whole }
        var next: String? = key.name
        var seen: Set<String> = []
        while let name = next, seen.insert(name).inserted {
            let spot = SharedSpot(zone: key.zone, root: name)
            if model.shares[spot] != nil { return spot }
            next = version(of: Step.Key(zone: key.zone, name: name))?.parent
        }
        return nil
    }

    /// What somebody may do with a record, whether it is there or not.
    func permission(of user: Int, _ key: Step.Key, _ model: ShareModel) -> SharePermission {
        if user == 0 { return .readWrite }
        guard let spot = spot(of: key, in: model) else { return .none }
        return model.shares[spot]?.permission(of: user) ?? .none
    }

    /// What somebody may do with a record that this server may have lost: if so, what he may where it
    /// hung before.
    func permission(
        of user: Int, _ key: Step.Key, lostFrom before: Self, _ model: ShareModel
    ) -> SharePermission {
        var key = key
        var seen: Set<Step.Key> = []
        while version(of: key) == nil, seen.insert(key).inserted,
            let parent = before.version(of: key)?.parent
        {
            key = Step.Key(zone: key.zone, name: parent)
        }
        return permission(of: user, key, model)
    }

    /// Each word with the record that has it.
    var words: [String: Step.Key] {
        var words: [String: Step.Key] = [:]
        for (zone, content) in zones {
            for (name, version) in content.records {
                for word in version.words { words[word] = Step.Key(zone: zone, name: name) }
            }
        }
        return words
    }

    /// What somebody sees.
    func visible(to user: Int, _ model: ShareModel) -> [Step.Key: Version] {
        var visible: [Step.Key: Version] = [:]
        for (zone, content) in zones {
            for (name, version) in content.records {
                let key = Step.Key(zone: zone, name: name)
                if permission(of: user, key, model) != .none { visible[key] = version }
            }
        }
        return visible
    }
}
