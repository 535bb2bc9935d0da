import RecordControl
import RecordModel
import RecordStore

/// Something that a command tells of a record, one on each line.
struct ListedRecord {
    let path: RecordPath
    /// What a person reads behind the path.
    let words: String
    let json: JSONValue
}

extension StateOptions {
    /// Lists what `find` gives for the store of a path, or for the one that is meant without any.
    ///
    /// - Parameter find: gets the record path when there is one.
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
