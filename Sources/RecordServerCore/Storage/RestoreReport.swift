package import RecordModel

/// The users, credentials and shares that are active in a restored server. Some of them may have
/// been removed since the backup and are back now. Only people can decide that.
package struct RestoreReport: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case administrator, user, token, key, session, share, participant
    }

    package struct Item: Sendable, Hashable {
        package let kind: Kind
        /// The name of a person or thing: an e-mail address, or the beginning of an identifier.
        package let name: Text
        /// The container and environment, or the owner and zone. It is empty for users.
        package let place: Text
        /// The rights or the name of the item.
        package let detail: Text

        package init(kind: Kind, name: Text, place: Text, detail: Text) {
            self.kind = kind
            self.name = name
            self.place = place
            self.detail = detail
        }
    }

    package let items: [Item]

    package init(items: [Item]) {
        self.items = items
    }
}
