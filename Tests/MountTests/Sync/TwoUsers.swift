import TestSupport

/// A server and the mounts of two of its users, of whom Alice is the first.
struct TwoUsers {
    let account: Account
    let alice: CommandLineHome
    let bob: CommandLineHome

    init(server arguments: [String] = []) async throws {
        try await self.init(server: arguments, alice: nil, bob: nil)
    }

    /// Both on one machine, where each has a uid, a home and a umask.
    init(of users: OtherUsers) async throws {
        try await self.init(
            server: [],
            alice: CommandLineHome(of: try users.add("alice", id: 60_001, umask: "022")),
            bob: CommandLineHome(of: try users.add("bob", id: 60_002, umask: "000")))
    }

    private init(
        server arguments: [String], alice: CommandLineHome?, bob: CommandLineHome?
    ) async throws {
        account = try await Account(server: arguments)
        self.alice = try account.machine(at: alice)
        try await account.addUser("bob@localhost", password: "a password of bob")
        self.bob = try account.machine(
            as: "bob@localhost", password: "a password of bob", at: bob)
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
