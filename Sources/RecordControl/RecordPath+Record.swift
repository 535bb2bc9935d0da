package import RecordModel
package import RecordStore

extension RecordPath {
    /// Returns the path of a record in the zone of this path, for people.
    ///
    /// A record that is here has the path of its file. A record that is gone, or cannot be shown
    /// here, has no file: its path ends with its name, behind the type that it has or had.
    ///
    /// - Parameter type: the type of the record on the server, if the caller knows it.
    package func shown(
        _ name: RecordName, in zone: ZoneID, of store: RecordStore, type: RecordTypeName? = nil
    ) throws(RecordError) -> String {
        if let record = try store.record(named: name, in: zone),
            let known = try store.type(record.type), type == nil || type == known.name
        {
            return inType(known.name).appending(record.stem).description
        }
        var last = type
        if last == nil { last = try store.past.history(of: name, in: zone).last?.type }
        let directory = last.map { inType($0) } ?? self
        return "\(directory)/\(Stem(encoding: name))"
    }

    private func inType(_ type: RecordTypeName) -> RecordPath {
        RecordPath(database: database, owner: owner, zone: zone, type: type)
    }
}
