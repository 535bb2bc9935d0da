package import RecordModel
package import RecordSync
import RecordWire

/// The account that the settings name. Its values are nil where the settings name none.
package struct ConfiguredAccount: Sendable {
    /// The file that has the settings, for messages.
    package let file: String
    /// The address, without a slash at its end.
    package var server: String?
    package var container: String?
    package var environment: String?
    /// The e-mail address to sign in with.
    package var user: String?

    package init(file: String) { self.file = file }

    /// Checks the account of a store.
    ///
    /// Errors: invalidArgument when the store belongs to another account than the settings name.
    package func check(_ account: Account) throws(RecordError) {
        try check("server", server, account.server)
        try check("container", container, account.container.string)
        try check("environment", environment, account.environment.rawValue)
    }

    private func check(
        _ key: String, _ wanted: String?, _ known: String
    ) throws(RecordError) {
        guard let wanted, wanted != known else { return }
        throw RecordError(
            .invalidArgument,
            "\(file) says that its \(key) is \(wanted), and it is signed in to "
                + "\(known). A store belongs to one account: use another state for another account."
        )
    }
}
