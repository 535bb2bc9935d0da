import RecordModel
import RecordSQL

extension SQLConnection {
    /// Returns the last token that was given by a moment. Everything up to it had happened then.
    func token(at point: RestorePoint) throws(RecordError) -> Int64 {
        switch point {
        case .deletion: .max
        case .token(let token): token
        case .time(let time): try lastToken(by: time)
        }
    }

    /// Returns the token of the last version that was made by that time, 0 before the first. The token
    /// decides, because the clock may have been wrong for a while.
    func lastToken(by time: Timestamp) throws(RecordError) -> Int64 {
        try first(
            "SELECT token FROM history WHERE at <= ? ORDER BY token DESC LIMIT 1", [.time(time)]
        ) { $0.int64(0) } ?? 0
    }
}
