package import RecordModel
package import RecordStore

/// The lines of `.recordfs/events`.
extension RemoteChanges {
    /// Returns the lines that `.recordfs/events` shows of a change.
    func eventLines(of change: StoreChange) -> [[JSONMember]] {
        guard change.kind == .share else { return [change.eventMembers] }
        let zone: ZoneInfo?
        do throws(RecordError) {
            zone = try store.past.keptZone(change.zone)
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
            JSONMember(key: "author", value: .string(Text(program?.text ?? author.rawValue))),
        ]
        if program != nil {
            members.append(JSONMember(key: "origin", value: .string(Text(author.rawValue))))
        }
        if let stem {
            members.append(JSONMember(key: "name", value: .string(Text(utf8: stem.bytes))))
        }
        if let token { members.append(JSONMember(key: "token", value: .integer(token))) }
        return members
    }
}

extension SyncEvent {
    /// The members of the event's line in `.recordfs/events` and in the output of
    /// `recordfs events --sync`. An exchange that runs has neither an end nor a result.
    package var members: [JSONMember] {
        func text(_ key: Text, _ value: String) -> JSONMember {
            JSONMember(key: key, value: .string(Text(value)))
        }
        var members = [
            text("event", kind.rawValue), JSONMember(key: "id", value: .integer(id)),
            text("database", database.name), text("start", start.iso8601),
        ]
        if let end { members.append(text("end", end.iso8601)) }
        if !isRunning { members.append(JSONMember(key: "succeeded", value: .bool(error == nil))) }
        members.append(JSONMember(key: "records", value: .integer(records)))
        if let error { members.append(text("error", error)) }
        if let record {
            members += [
                JSONMember(key: "type", value: .string(Text(utf8: record.type.bytes))),
                JSONMember(key: "name", value: .string(Text(utf8: record.name.bytes))),
            ]
        }
        if let begun { members.append(JSONMember(key: "begun", value: .integer(begun))) }
        return members
    }
}
