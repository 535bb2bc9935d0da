package import RecordModel
package import RecordStore

/// The holders of old versions: readers of the history, and moments with a name.
extension ControlExecutor {
    func saveReader(
        _ name: HistoryReader.Name, token: Int64, known: Int64?
    ) throws(RecordError) -> ControlReply {
        try store.write(author: .commandLine, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.upkeep.saveReader(name, token: token, known: known)
        }
        return ControlReply(.object([]))
    }

    func removeReader(_ name: HistoryReader.Name) throws(RecordError) -> ControlReply {
        try store.write(author: .commandLine, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.upkeep.removeReader(name)
        }
        return ControlReply(.object([]))
    }

    func nameMoment(
        _ name: MomentName, at point: RestorePoint?
    ) throws(RecordError) -> ControlReply {
        let moment = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) in
            try transaction.upkeep.nameMoment(name, at: point)
        }
        return ControlReply(moment.json)
    }

    func removeMoment(_ name: MomentName) throws(RecordError) -> ControlReply {
        try store.write(author: .commandLine, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.upkeep.removeMoment(name)
        }
        return ControlReply(.object([]))
    }
}

extension HeldVersions {
    /// The members for the output of commands.
    package var json: JSONValue {
        .members([
            "name": .text(reader.name.text), "token": .integer(reader.token),
            "used": .text(Showing.time(reader.used)), "expired": .bool(reader.isExpired),
            "versions": .integer(versions), "size": .integer(bytes),
        ])
    }
}

extension NamedMoment {
    /// The members for the output of commands.
    package var json: JSONValue {
        .members([
            "name": .text(name.text), "token": .integer(token), "time": .text(Showing.time(at)),
        ])
    }
}
