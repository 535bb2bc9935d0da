import RecordModel
import RecordStore

extension Invitation {
    /// For a terminal and for the log, with the command that accepts it. Who invites has written the title.
    var line: String {
        let what = title.map { "\"\($0)\"" } ?? "something"
        return "\(owner) invites you to \(what): recordfs accept \(link)".onOneLine
    }
}
