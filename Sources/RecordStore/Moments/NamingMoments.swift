package import RecordModel
import RecordSQL

extension UpkeepWriting {
    /// Gives a moment a name. Deletions that wait become final first: what is gone for the user is
    /// not there at a moment that is named now.
    ///
    /// - Parameter point: nil for now.
    /// - Throws: alreadyExists for a name that another moment has; notFound for a moment of which
    ///   versions were removed; invalidArgument when there are too many.
    package func nameMoment(
        _ name: MomentName, at point: RestorePoint?
    ) throws(RecordError) -> NamedMoment {
        let connection = transaction.connection
        let named = try connection.moments()
        guard !named.contains(where: { $0.name == name }) else {
            throw RecordError(
                .alreadyExists,
                "there is a moment \(name). recordfs moment delete \(name) removes the name.")
        }
        guard named.count < NamedMoment.most else {
            throw RecordError(
                .invalidArgument,
                "there are \(NamedMoment.most) named moments. recordfs moment delete NAME removes "
                    + "one.")
        }
        if point == nil {
            for waiting in try connection.records.waitingDeletions() {
                try transaction.records.finalizeDelete(waiting.id)
            }
        }
        let last = try connection.lastToken()
        let token = try point.map { (point) throws(RecordError) in
            try connection.completeToken(at: point)
        }
        let moment = NamedMoment(
            name: name, token: min(token ?? last, last), at: point?.time ?? transaction.now)
        try connection.run(
            "INSERT INTO moment (name, token, at) VALUES (?, ?, ?)",
            [.text(name.text), .integer(moment.token), .time(moment.at)])
        return moment
    }

    /// Removes the name of a moment. Errors: notFound.
    package func removeMoment(_ name: MomentName) throws(RecordError) {
        _ = try transaction.connection.token(at: .named(name))
        try transaction.connection.run("DELETE FROM moment WHERE name = ?", [.text(name.text)])
    }
}
