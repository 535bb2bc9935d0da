import TestSupport

/// A server and the mounts of two of its users, of whom Alice is the first.
struct TwoUsers {
    let account: Account
    let alice: CommandLineHome
    let bob: CommandLineHome

    init(server arguments: [String] = []) async throws {
        account = try await Account(server: arguments)
        alice = try account.machine()
        try await account.addUser("bob@localhost", password: "a password of bob")
        bob = try account.machine(as: "bob@localhost", password: "a password of bob")
    }
}

protocol TestsOfTwoUsers {
    var users: TwoUsers { get }
}

extension TestsOfTwoUsers {
    var account: Account { users.account }
    var alice: CommandLineHome { users.alice }
    var bob: CommandLineHome { users.bob }

    /// Nothing is wrong in their stores, nor in those of others.
    func end(_ others: CommandLineHome...) throws {
        for home in [alice, bob] + others { try home.ok("recordfs unmount && recordfs fsck") }
    }
}
