package import RecordModel
import RecordSQL

extension RecordStore {
    /// Returns at most `limit` file names of records that begin with `prefix`, in the order of
    /// their bytes, without those that show no file. The size of the type does not matter.
    package func stems(
        in type: TypeID, beginningWith prefix: [UInt8], limit: Int
    ) throws(RecordError) -> [Stem] {
        // No byte of a stem is 0xFF, because stems are UTF-8.
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT stem FROM record
                WHERE type_id = ? AND stem >= ? AND stem < ? AND state != 2
                    AND (flags & 4 = 0 OR state != 1)
                ORDER BY stem LIMIT ?
                """,
                [
                    .integer(type.rawValue), .blob(prefix), .blob(prefix + [0xFF]),
                    .integer(Int64(limit)),
                ]
            ) { Stem(bytes: $0.bytes(0)) }
        }
    }
}
