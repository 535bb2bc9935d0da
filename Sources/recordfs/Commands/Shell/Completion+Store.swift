import RecordControl
import RecordModel
import RecordStore

/// The candidates that come from the store.
extension Completion {
    /// The number of entries of the log that are offered.
    private static let entries = 50

    /// Returns the tokens of the last entries of the log, and the names of moments where one is
    /// asked for.
    func moments(_ prefix: String, withNames: Bool) -> [String] {
        reading { store throws(RecordError) in
            var query = LogQuery()
            query.limit = Self.entries
            let tokens = try store.past.log(query).compactMap(\.token).map { "@\($0)" }
            let names = withNames ? try store.moments.named().map(\.name.text) : []
            return (names + tokens).filter { $0.hasPrefix(prefix) }
        }
    }

    /// Returns the names of moments.
    func momentNames(_ prefix: String) -> [String] {
        reading { store throws(RecordError) in
            try store.moments.named().map(\.name.text).filter { $0.hasPrefix(prefix) }
        }
    }

    /// Returns the fields of the record type of a path, each with `=` after it.
    func fields(of path: String?, _ prefix: String) -> [String] {
        guard let path, !prefix.contains(where: { "/=".contains($0) }) else { return [] }
        do {
            let place = try PathArgument(argument: path).located(by: state)
            guard let type = place.path.type else { return [] }
            let schema = try place.store.reader().schema(of: type)
            return schema.fields.map { "\($0.name)=" }.filter { $0.hasPrefix(prefix) }
        } catch {
            return []
        }
    }

    /// Returns nothing where there is no store that can be read.
    private func reading(_ body: (RecordStore) throws(RecordError) -> [String]) -> [String] {
        do {
            return try body(state.access().reader())
        } catch {
            return []
        }
    }
}
