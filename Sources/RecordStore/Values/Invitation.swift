package import RecordModel

/// An invitation to a share that this account has not accepted yet.
package struct Invitation: Hashable, Sendable {
    /// The name that the server uses for it.
    package let id: Text
    /// The description that `recordfs shares --json` prints.
    package let json: JSONValue

    package init(id: Text, json: JSONValue) {
        self.id = id
        self.json = json
    }

    package var link: String { json["url"]?.string?.string ?? "" }
    package var title: String? { json["title"]?.string?.string }
    /// The owner: an address, a name or a user.
    package var owner: String { ShareNews.name(of: json["owner"]) }
}
