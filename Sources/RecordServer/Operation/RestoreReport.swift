package import RecordModel

/// What can do something in a restored server. Some of it may have been taken away since the
/// backup and is back now: only people can tell.
package struct RestoreReport: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case administrator, user, token, key, session, share, participant
    }

    package struct Item: Sendable, Hashable {
        package let kind: Kind
        /// Who or what: an e-mail address, the beginning of an identifier.
        package let name: Text
        /// Container and environment, or owner and zone; empty for users.
        package let place: Text
        /// What it may do, or what it is called.
        package let detail: Text
    }

    package let items: [Item]
}
