import Glibc
import RecordModel
import RecordStore

/// A share with its zone.
struct ShownShare {
    let share: Share
    let zone: ZoneInfo

    var text: [UInt8] { share.text + [UInt8(ascii: "\n")] }

    /// Indicates whether this user may change the share: its owner, and administrators, whom the
    /// owner lets invite others.
    var isManaged: Bool {
        get throws(RecordError) {
            if zone.database == .private { return true }
            let role = try JSONParser.parse(share.text)["role"]?.string
            return role == "OWNER" || role == "ADMINISTRATOR"
        }
    }
}
