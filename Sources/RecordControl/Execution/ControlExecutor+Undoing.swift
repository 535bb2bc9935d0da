import RecordModel
import RecordStore

extension ControlExecutor {
    func undo(_ choice: GestureChoice, isRehearsal: Bool) throws(RecordError) -> ControlReply {
        let body = { (transaction: Transaction) throws(RecordError) -> [UndoneGesture] in
            try transaction.undoing.undo(choice)
        }
        let gestures =
            if isRehearsal {
                try store.rehearse(author: .commandLine, by: author, body)
            } else {
                try store.write(author: .commandLine, by: author, body)
            }
        return ControlReply(
            .members([
                "gestures": .array(gestures.map { $0.json }), "rehearsal": .bool(isRehearsal),
            ]))
    }
}

extension UndoneGesture {
    fileprivate var json: JSONValue {
        .members([
            "time": .text(Showing.time(gesture.at)), "author": .text(gesture.shownAuthor),
            "tool": gesture.tool.map { .text($0) } ?? .null,
            "changed": .integer(changed), "sent": .integer(sent),
            "records": .array(records.map(\.json)),
        ])
    }
}

extension UndoneRecord {
    fileprivate var json: JSONValue {
        let path = RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: type,
            item: .record(stem))
        let (word, fields): (String, [FieldName]) =
            switch effect {
            case .removed: ("removed", [])
            case .broughtBack: ("broughtBack", [])
            case .changed(let fields): ("changed", fields)
            case .none(let reason): (reason.rawValue, [])
            }
        return .members([
            "path": .text(path.bytes), "effect": .text(word),
            "isLeft": .bool(effect.isNone), "fields": .array(fields.map { .name($0) }),
            "leftFields": .array(left.map { .name($0) }), "sent": .bool(wasSent),
        ])
    }
}
