import RecordControl
import RecordModel
import RecordWire

/// The words for the people of a share and their access.
enum ShareWords {
    static func name(of person: JSONValue) -> String {
        let name = person.shownMember("name")
        let address = person.shownMember("address") ?? person.shownMember("user") ?? "somebody"
        return name.map { "\($0) <\(address)>" } ?? address
    }

    static func access(_ permission: String) -> String {
        switch SharePermission(rawValue: permission) {
        case .readWrite: "read and write"
        case .readOnly: "read"
        default: "nothing"
        }
    }
}
