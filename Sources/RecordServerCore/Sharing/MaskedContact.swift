import RecordModel
import RecordWire

/// Hides most of an address: its owner can recognise it, and nobody else can use it.
enum MaskedContact {
    /// Returns an address such as `b***@e***.org`.
    static func emailAddress(_ address: Text) -> Text {
        let parts = address.string.split(separator: "@", maxSplits: 1)
        guard parts.count == 2 else { return "***" }
        let domain = parts[1].split(separator: ".")
        let top = domain.count > 1 ? domain.last.map { ".\($0)" } ?? "" : ""
        return Text("\(parts[0].prefix(1))***@\(parts[1].prefix(1))***\(top)")
    }

    /// Returns the last two digits.
    static func phoneNumber(_ number: Text) -> Text { Text("***\(number.string.suffix(2))") }

    /// Returns an item of `potentialMatchList` (Protocol, "Sharing").
    static func potentialMatch(_ row: ParticipantRow) -> JSONValue {
        var contact: [JSONMember] = []
        if let address = row.lookup.emailAddress {
            contact.append(
                JSONMember(key: "emailAddress", value: .string(emailAddress(address))))
        }
        if let number = row.lookup.phoneNumber {
            contact.append(JSONMember(key: "phoneNumber", value: .string(phoneNumber(number))))
        }
        return [
            "participantId": .string(row.participantID), "contactInformation": .object(contact),
        ]
    }
}
