package import RecordModel
import RecordSQL

/// The account, and the server, that a store belongs to. It is kept beside the data, written with
/// the first sign-in, and never changes. Otherwise changes that one account has not sent would be
/// uploaded to another account.
package struct StoreOwner: Hashable, Sendable {
    package let server: String
    package let container: String
    package let environment: String
    /// The user's record name.
    package let user: String
    package let profile: String

    package init(
        server: String, container: String, environment: String, user: String, profile: String
    ) {
        self.server = server
        self.container = container
        self.environment = environment
        self.user = user
        self.profile = profile
    }

    /// Checks that the other account is this one. Errors: alreadyExists for another account.
    package func check(_ other: StoreOwner) throws(RecordError) {
        guard other != self else { return }
        throw RecordError(
            .alreadyExists,
            "this store belongs to \(user) at \(server), container \(container), \(environment), profile "
                + "\(profile). Another account gets a store of its own: --state DIR, here and at "
                + "recordfs mount.")
    }

    fileprivate static let key = "account"

    fileprivate var text: [UInt8] {
        let members = [
            ("server", server), ("container", container), ("environment", environment),
            ("user", user), ("profile", profile),
        ]
        return JSONValue.object(
            members.map { JSONMember(key: Text($0.0), value: .string(Text($0.1))) }
        ).serialized()
    }

    fileprivate init(_ text: [UInt8]) throws(RecordError) {
        let json = try JSONParser.parse(text)
        func member(_ name: String) throws(RecordError) -> String {
            guard let value = json[name]?.string?.string else {
                throw RecordError(.corrupt, "The store does not say which account it belongs to.")
            }
            return value
        }
        self.init(
            server: try member("server"), container: try member("container"),
            environment: try member("environment"), user: try member("user"),
            profile: try member("profile"))
    }
}

extension RecordStore {
    /// Returns the account that the store belongs to. Returns nil while nobody has signed in.
    package func owner() throws(RecordError) -> StoreOwner? {
        try read { connection throws(RecordError) in try connection.owner() }
    }

    /// Assigns the store to this account. Errors: alreadyExists when it belongs to another account.
    package func setOwner(_ owner: StoreOwner) throws(RecordError) {
        if let known = try self.owner() { return try known.check(owner) }
        try write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            if let known = try transaction.connection.owner() { return try known.check(owner) }
            try transaction.connection.run(
                "INSERT INTO meta (key, value) VALUES (?, ?)",
                [.text(StoreOwner.key), .blob(owner.text)])
        }
    }
}

extension SQLConnection {
    func owner() throws(RecordError) -> StoreOwner? {
        try first("SELECT value FROM meta WHERE key = ?", [.text(StoreOwner.key)]) {
            $0.bytes(0)
        }.map { (text) throws(RecordError) in try StoreOwner(text) }
    }
}
