import RecordControl
import RecordModel
package import RecordStore

extension Invitation {
    /// The line for a terminal, with the command that accepts the invitation. The inviting user has
    /// written the title.
    package var line: String {
        let what = title.map { "\"\($0.replacing("\"", with: "\\\""))\"" } ?? "something"
        let right = json["permission"] == "READ_WRITE" ? "read and write" : "read"
        return "\(owner) invites you to \(right) \(what): recordfs accept \(link)".onOneLine
    }

    /// The line for the log, where it stays: it does not name the shared object.
    var announcement: String {
        "\(owner) invites you: recordfs shares shows it".onOneLine
    }
}
