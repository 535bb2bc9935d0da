package import RecordModel

/// Something that somebody wants to share with this account, which has not accepted it yet.
package struct Invitation: Hashable, Sendable {
    /// As the server names it.
    package let id: Text
    /// As `recordfs shares --json` has it.
    package let json: JSONValue

    package init(id: Text, json: JSONValue) {
        self.id = id
        self.json = json
    }

    package var link: String { json["url"]?.string?.string ?? "" }
    package var title: String? { json["title"]?.string?.string }
    /// An address, a name or a user.
    package var owner: String { ShareNews.name(of: json["owner"]) }
}
