/// The rank of a password that waits to be hashed. The smaller rank is served first.
package struct ScryptRank: Hashable, Comparable, Sendable {
    private let order: Int64
    /// Indicates whether the job waits however many others there are.
    let isPatient: Bool

    private init(_ order: Int64, isPatient: Bool = false) {
        self.order = order
        self.isPatient = isPatient
    }

    /// The rank of a browser in which the owner of the account has signed in before.
    package static let knownDevice = ScryptRank(0)
    /// The rank of a request by a signed-in user or by the operator. It is done, however late.
    package static let owner = ScryptRank(1, isPatient: true)
    /// The rank of a network address from which the owner of the account has signed in before.
    package static let knownAddress = ScryptRank(2)

    /// Returns the rank of anybody else: with fewer failures of the address, the turn comes sooner.
    package static func stranger(failures: Int64) -> ScryptRank {
        ScryptRank(3 + min(max(0, failures), 1_000_000))
    }

    package static func < (left: ScryptRank, right: ScryptRank) -> Bool {
        left.order < right.order
    }
}
