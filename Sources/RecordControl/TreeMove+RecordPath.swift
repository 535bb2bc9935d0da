package import RecordModel
package import RecordStore

extension TreeMove {
    /// Creates a move.
    ///
    /// - Parameter zone: a path in the target zone.
    /// Errors: invalidArgument for a path that names no zone.
    package init(
        of records: [RecordEntry], to zone: RecordPath, under parent: RecordName? = nil
    ) throws(RecordError) {
        guard let database = zone.database, let name = zone.zone else {
            throw RecordError(.invalidArgument, "\(zone) is no zone.")
        }
        self.init(of: records.map(\.id), to: database, zone.owner, name, under: parent)
    }
}
