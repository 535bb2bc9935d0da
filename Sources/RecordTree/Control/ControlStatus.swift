package import RecordModel
package import RecordStore
import Synchronization

extension Tree {
    func statusText() throws(RecordError) -> [UInt8] {
        let counts = try store.counts()
        var zones: [JSONValue] = []
        for count in counts.zones {
            guard let zone = try store.zone(count.zone) else { continue }
            var members = [
                JSONMember(key: "database", value: .string(Text(zone.database.name))),
                JSONMember(key: "zone", value: .string(Text(utf8: zone.name.bytes))),
                JSONMember(key: "records", value: .integer(count.records)),
                JSONMember(key: "pending", value: .integer(count.pending)),
                JSONMember(key: "drafts", value: .integer(count.drafts)),
                JSONMember(key: "refused", value: .integer(count.refused)),
                JSONMember(key: "conflicts", value: .integer(count.conflicts)),
                JSONMember(key: "passedOver", value: .integer(count.passedOver)),
            ]
            if let oldest = count.oldestPending {
                members.append(
                    JSONMember(key: "oldestPending", value: .string(Text(oldest.iso8601))))
            }
            zones.append(.object(members))
        }
        let scratch = try ScratchUsage.scratch(stateDirectory: store.directory)
        let exchange = options.exchange.status()
        let status = JSONValue.object([
            JSONMember(key: "account", value: exchange?["user"] ?? .null),
            JSONMember(key: "server", value: exchange?["server"] ?? .null),
            JSONMember(key: "sync", value: exchange ?? .null),
            JSONMember(key: "scratchFiles", value: .integer(scratch.files)),
            JSONMember(key: "scratchBytes", value: .integer(scratch.bytes)),
            JSONMember(key: "unsaved", value: .integer(Int64(unsavedCount))),
            JSONMember(key: "zones", value: .array(zones)),
        ])
        return status.serialized(pretty: true) + [UInt8(ascii: "\n")]
    }

    func metricsText() throws(RecordError) -> [UInt8] {
        let counts = try store.counts()
        let (open, handles) = state.withLock { ($0.open.count, $0.handles.count) }
        let figures: [(String, String, Int64)] = [
            (
                "recordfs_records", "Records in the store.",
                counts.records
            ),
            (
                "recordfs_pending_changes", "Changes that no server has acknowledged.",
                counts.pending
            ),
            ("recordfs_drafts", "Rejected saves.", counts.drafts),
            (
                "recordfs_refused_changes", "Changes that the server has refused.",
                counts.refused
            ),
            (
                "recordfs_conflicts", "Conflicts that nobody has settled.",
                counts.conflicts
            ),
            (
                "recordfs_passed_over_records",
                "Records of the server that cannot be shown here.", counts.passedOver
            ),
            ("recordfs_open_records", "Records that are open.", Int64(open)),
            ("recordfs_open_handles", "Open files and directories.", Int64(handles)),
        ]
        let lines = figures.map { name, help, value in
            "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        return Array(lines.joined().utf8)
    }

    func metaText(_ meta: RecordMeta) throws(RecordError) -> [UInt8] {
        let place = try place(of: meta.type)
        var members = [
            JSONMember(key: "name", value: .string(Text(utf8: meta.name.bytes))),
            JSONMember(key: "database", value: .string(Text(place.zone.database.name))),
            JSONMember(key: "zone", value: .string(Text(utf8: place.zone.name.bytes))),
            JSONMember(key: "type", value: .string(Text(utf8: place.type.bytes))),
            JSONMember(key: "permission", value: .string(Text(meta.permissionName))),
            JSONMember(
                key: "changeTag",
                value: meta.changeTag.isEmpty ? .null : .string(Text(meta.changeTag))),
            JSONMember(key: "created", value: .string(Text(meta.created.iso8601))),
            JSONMember(key: "createdBy", value: .string(Text(meta.createdBy))),
            JSONMember(key: "modified", value: .string(Text(meta.modified.iso8601))),
            JSONMember(key: "modifiedBy", value: .string(Text(meta.modifiedBy))),
            JSONMember(key: "generation", value: .integer(meta.generation)),
            JSONMember(key: "state", value: .string(Text(try stateName(of: meta)))),
        ]
        if place.zone.owner != .me {
            members.append(
                JSONMember(key: "owner", value: .string(Text(utf8: place.zone.owner.bytes))))
        }
        if let error = try errorText(of: meta) {
            members.append(JSONMember(key: "error", value: .string(Text(error))))
        }
        return JSONValue.object(members).serialized(pretty: true) + [UInt8(ascii: "\n")]
    }
}

extension JSONValue {
    static func integer(_ value: Int64) -> JSONValue {
        .number(JSONNumber(value))
    }
}

extension Tree {
    /// Returns the lines that `.recordfs/events` shows of a change.
    func eventLines(of change: StoreChange) -> [[JSONMember]] {
        guard change.kind == .share else { return [change.eventMembers] }
        let zone: ZoneInfo?
        do throws(RecordError) {
            zone = try store.keptZone(change.zone)
        } catch {
            zone = nil
        }
        return change.shareNews.map { news in
            var members = [
                JSONMember(key: "event", value: .string(Text(change.kind.rawValue))),
                JSONMember(key: "what", value: .string(Text(news.kind.rawValue))),
            ]
            if let zone {
                members.append(
                    JSONMember(key: "database", value: .string(Text(zone.database.name))))
                members.append(
                    JSONMember(key: "zone", value: .string(Text(utf8: zone.name.bytes))))
                if zone.owner != .me {
                    members.append(
                        JSONMember(key: "owner", value: .string(Text(utf8: zone.owner.bytes))))
                }
            }
            if !news.who.isEmpty {
                members.append(JSONMember(key: "who", value: .string(Text(news.who))))
            }
            if news.count > 0 {
                members.append(JSONMember(key: "records", value: .integer(Int64(news.count))))
            }
            if let unshared = news.unshared {
                let names = unshared.children.map { JSONValue.string(Text(utf8: $0.bytes)) }
                members += [
                    JSONMember(key: "name", value: .string(Text(utf8: unshared.root.bytes))),
                    JSONMember(key: "unshared", value: .array(names)),
                ]
            }
            for key in ["title", "url"] {
                guard let value = news.invitation?.json[key] else { continue }
                members.append(JSONMember(key: Text(key), value: value))
            }
            return members
        }
    }
}

extension StoreChange {
    /// The members of the change's line in `.recordfs/events`.
    var eventMembers: [JSONMember] {
        if let exchange { return exchange.members }
        var members = [
            JSONMember(key: "event", value: .string(Text(kind.rawValue))),
            JSONMember(key: "author", value: .string(Text(author.rawValue))),
        ]
        if let stem {
            members.append(JSONMember(key: "name", value: .string(Text(utf8: stem.bytes))))
        }
        if let token { members.append(JSONMember(key: "token", value: .integer(token))) }
        return members
    }
}

extension SyncEvent {
    /// The members of the event's line in `.recordfs/events` and in the output of
    /// `recordfs events --sync`.
    package var members: [JSONMember] {
        var members = [
            JSONMember(key: "event", value: .string(Text(kind.rawValue))),
            JSONMember(key: "id", value: .integer(id)),
            JSONMember(key: "database", value: .string(Text(database.name))),
            JSONMember(key: "start", value: .string(Text(start.iso8601))),
            JSONMember(key: "end", value: .string(Text(end.iso8601))),
            JSONMember(key: "succeeded", value: .bool(error == nil)),
            JSONMember(key: "records", value: .integer(records)),
        ]
        if let error { members.append(JSONMember(key: "error", value: .string(Text(error)))) }
        return members
    }
}
