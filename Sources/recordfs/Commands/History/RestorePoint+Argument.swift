import ArgumentParser
import RecordModel
import RecordStore

extension RestorePoint: ExpressibleByArgument {
    /// Reads an argument: a moment.
    public init?(argument: String) { self.init(argument, now: SystemClock().now) }
}

extension StoreAccess {
    /// Returns the token of a moment that is given by a name, and every other moment as it is.
    ///
    /// - Throws: wrong usage for a name that no moment has. It may be a time that is spelled wrongly.
    func resolved(_ point: RestorePoint) throws -> RestorePoint {
        if case .gesture(let name) = point { return .token(try token(of: .named(name))) }
        guard case .named(let name) = point else { return point }
        guard let moment = try moment(name) else {
            throw CommandFailure(
                name.text, "is no time, and no moment has that name (recordfs moment list).",
                status: ExitStatus.usage)
        }
        return .token(moment.token)
    }

    /// Returns the token of an entry of the log.
    func token(of entry: LogEntryName) throws -> Int64 {
        switch entry {
        case .token(let token): return token
        case .named(let name):
            let store = try reader()
            return try reporting { () throws(RecordError) in
                try store.past.token(ofGesture: name)
            }
        }
    }

    /// Returns the moment that has a name.
    func moment(_ name: MomentName) throws -> NamedMoment? {
        let store = try reader()
        return try reporting { () throws(RecordError) in
            try store.moments.named().first { $0.name == name }
        }
    }
}
