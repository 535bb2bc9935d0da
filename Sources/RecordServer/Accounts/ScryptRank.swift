/// Whose turn it is where passwords wait to be hashed: the smaller one comes first.
package struct ScryptRank: Hashable, Comparable, Sendable {
    private let order: Int64
    /// Whether it waits however many there are.
    let isPatient: Bool

    private init(_ order: Int64, isPatient: Bool = false) {
        self.order = order
        self.isPatient = isPatient
    }

    /// A browser in which the owner of the account has signed in before.
    package static let knownDevice = ScryptRank(0)
    /// What somebody asked for who is signed in, or runs the server: it is done, however late.
    package static let owner = ScryptRank(1, isPatient: true)
    /// A network address from which the owner of the account has signed in before.
    package static let knownAddress = ScryptRank(2)

    /// Anybody else: the fewer failures the address has to answer for, the sooner.
    package static func stranger(failures: Int64) -> ScryptRank {
        ScryptRank(3 + min(max(0, failures), 1_000_000))
    }

    package static func < (left: ScryptRank, right: ScryptRank) -> Bool {
        left.order < right.order
    }
}
