import RecordModel
import RecordStore

extension Invitation {
    /// For a terminal, with the command that accepts it. Who invites has written the title.
    var line: String {
        let what = title.map { "\"\($0.replacing("\"", with: "\\\""))\"" } ?? "something"
        let right = json["permission"] == "READ_WRITE" ? "read and write" : "read"
        return "\(owner) invites you to \(right) \(what): recordfs accept \(link)".onOneLine
    }

    /// For the log, where it stays: without what it is about.
    var announcement: String { "\(owner) invites you: recordfs shares says to what".onOneLine }
}
