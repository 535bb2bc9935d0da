package import RecordModel
import RecordWire

/// The text of a share's file, as a person writes it.
///
/// A member that is missing in the text stays unchanged. A list of participants is the whole list.
/// Members that only the server sets may be present unchanged, so that a program can change one
/// member and write the rest back.
package enum ShareText {
    /// The longest text, in bytes: no share that the server takes needs more.
    package static let sizeMax = 1 << 20

    /// Returns the edit that makes a share match the text.
    ///
    /// - Parameter current: the share as it is known on this machine, as `ShareAnswer.json` shows
    ///   it. Nil when there is none.
    /// - Returns: nil when the share already matches the text.
    ///
    /// Errors: invalidJSON, tooLarge and invalidRecord. Their texts say what to write instead.
    package static func edit(
        _ text: [UInt8], since current: JSONValue?
    ) throws(RecordError) -> ShareEdit? {
        guard text.count <= sizeMax else {
            throw RecordError(.tooLarge, "the text of a share has at most \(sizeMax) bytes.")
        }
        let json = try JSONParser.parse(text)
        guard let members = json.object else {
            throw refused("a share is an object, {} at least, not \(json.kind).")
        }
        try check(members, known: own + told, of: "a share")
        try checkTold(json, current)
        var edit = ShareEdit()
        if let title = json["title"], title != current?["title"] {
            guard let words = title.string else { throw refused("title is a string.") }
            edit.title = words
        }
        if let type = json["type"], type != current?["type"] ?? .null {
            try edit.readAppearance(["type": type])
        }
        if let thumbnail = json["thumbnail"] { try compare(thumbnail: thumbnail, current, &edit) }
        if let everyone = json["publicPermission"], everyone != current?["publicPermission"] {
            edit.publicPermission = try permission(everyone)
        }
        if let list = json["participants"] { try compare(list, current, &edit) }
        return edit == ShareEdit() && current != nil ? nil : edit
    }

    private static let own = [
        "title", "type", "thumbnail", "publicPermission", "participants",
    ]
    private static let told = [
        "url", "record", "permission", "role", "owner", "changeTag", "takesRequests", "requests",
        "blocked", "links",
    ]
    private static let ofPerson = ["address", "user", "permission", "type"]
    private static let toldOfPerson = ["name", "status", "since"]

    private static func refused(_ words: String) -> RecordError {
        RecordError(.invalidRecord, words)
    }

    private static func check(
        _ members: [JSONMember], known: [String], of what: String
    ) throws(RecordError) {
        for member in members where !known.contains(member.key.string) {
            throw refused(
                "\"\(member.key.string)\" is no member of \(what), which has "
                    + known.joined(separator: ", ") + ".")
        }
    }

    /// Refuses the text of an older state, so that a share that has changed since then is not set
    /// back.
    private static func checkTold(
        _ json: JSONValue, _ current: JSONValue?
    ) throws(RecordError) {
        guard let current else {
            for key in told where json[key] != nil {
                throw refused(
                    "\"\(key)\" is set by the server: this is the text of another share. Leave "
                        + told.joined(separator: ", ") + " out to share this too.")
            }
            return
        }
        if let tag = json["changeTag"], tag != current["changeTag"] {
            throw refused(
                "the share has changed since this text was read. Read it again, and change that.")
        }
        for key in told {
            guard let value = json[key],
                value.withSortedMembers != current[key]?.withSortedMembers
            else { continue }
            // The part after # only repeats the title, and changes together with it.
            if key == "url",
                value.string?.string.prefix(while: { $0 != "#" })
                    == current[key]?.string?.string.prefix(while: { $0 != "#" })
            {
                continue
            }
            throw refused("\"\(key)\" is set by the server, and cannot be changed.")
        }
    }

    private static func permission(_ json: JSONValue) throws(RecordError) -> SharePermission {
        guard let permission = SharePermission(json) else {
            throw refused("a permission is \"NONE\", \"READ_ONLY\" or \"READ_WRITE\".")
        }
        return permission
    }

    /// Compares the thumbnail. The description in the file stands for the current thumbnail and
    /// leaves it unchanged.
    private static func compare(
        thumbnail: JSONValue, _ current: JSONValue?, _ edit: inout ShareEdit
    ) throws(RecordError) {
        let known = current?["thumbnail"]
        guard thumbnail != known ?? .null else { return }
        if let hash = thumbnail["sha256"] {
            if hash == known?["sha256"] { return }
            throw refused(
                "\"thumbnail\" is that of another share or of earlier. Write {\"$bytes\": \"…\"} with "
                    + "base64 of a picture, null for none, or nothing to leave it as it is.")
        }
        try edit.readAppearance(["thumbnail": thumbnail])
        if let picture = edit.thumbnail?.value,
            ShareThumbnail.description(of: picture.bytes) == known
        {
            edit.thumbnail = nil
        }
    }

    // MARK: Participants

    private static func compare(
        _ list: JSONValue, _ current: JSONValue?, _ edit: inout ShareEdit
    ) throws(RecordError) {
        guard let people = list.array else { throw refused("participants is an array.") }
        var missing = current?["participants"]?.array ?? []
        var named: Set<Text> = []
        for person in people {
            guard let members = person.object else {
                throw refused(
                    "a participant is an object such as {\"address\": \"bob@example.org\"}.")
            }
            try check(members, known: ofPerson + toldOfPerson, of: "a participant")
            let address = try address(of: person)
            guard named.insert(address.folded).inserted else {
                throw refused("\(address) is there twice.")
            }
            let place = missing.firstIndex { isSame($0, person) }
            let known = place.map { missing.remove(at: $0) }
            if let member = try member(person, known, address) { edit.members.append(member) }
        }
        edit.removed = try missing.map { (person) throws(RecordError) in try address(of: person) }
    }

    /// Returns the change of a participant. Returns nil when nothing changes.
    private static func member(
        _ person: JSONValue, _ known: JSONValue?, _ address: Text
    ) throws(RecordError) -> ShareEdit.Member? {
        var member = ShareEdit.Member(address: address)
        if let wanted = person["permission"], wanted != known?["permission"] {
            member.permission = try permission(wanted)
        }
        if let type = person["type"], type != known?["type"] {
            switch type.string {
            case "USER": member.isAdministrator = false
            case "ADMINISTRATOR": member.isAdministrator = true
            default: throw refused("the type of a participant is \"USER\" or \"ADMINISTRATOR\".")
            }
        }
        if known != nil, member == ShareEdit.Member(address: address) { return nil }
        return member
    }

    private static func isSame(_ known: JSONValue, _ person: JSONValue) -> Bool {
        if let user = person["user"]?.string { return known["user"]?.string == user }
        return known["address"]?.string?.folded == person["address"]?.string?.folded
    }

    /// Returns the address in the form that `ShareEdit` takes.
    private static func address(of person: JSONValue) throws(RecordError) -> Text {
        guard let address = person["user"]?.string ?? person["address"]?.string,
            UserLookup.isAddress(address)
        else {
            throw refused(
                "a participant has an address, such as bob@example.org or +49301234567, or a user, "
                    + "such as _1f2e…")
        }
        return address
    }
}

extension Text {
    fileprivate var folded: Text { Text(string.lowercased()) }
}
