import RecordControl
import RecordModel
import RecordStore

/// One line of a command about a record.
struct ListedRecord {
    let path: RecordPath
    /// The words for a person, after the path.
    let words: String
    let json: JSONValue
}

extension StateOptions {
    /// Lists the results of `find` for the store of a path. Without a path, uses the store that the
    /// options select.
    ///
    /// - Parameter find: receives the record path when there is one.
    func list(
        _ path: PathArgument?, json: Bool,
        _ find: (RecordStore, RecordPath?) throws(RecordError) -> [ListedRecord]
    ) throws {
        let place = try path.map { path throws(CommandFailure) in try path.located(by: self) }
        let access = try place?.store ?? access()
        let store = try access.reader()
        let found = try access.reporting(path?.text) { () throws(RecordError) in
            try find(store, place?.path)
        }
        let spelling = PathSpelling(for: access)
        for record in found {
            if json {
                Showing.jsonLine(record.json)
            } else {
                Terminal.print(
                    spelling.spell(record.path.bytes) + Array(": \(record.words)\n".utf8))
            }
        }
    }
}
