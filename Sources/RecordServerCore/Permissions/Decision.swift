import RecordWire

/// The answer to the question whether a caller may do something.
enum Decision: Hashable, Sendable {
    case allowed
    case refused(ServerError)

    var isAllowed: Bool { self == .allowed }

    /// Throws the refusal.
    func require() throws(ServerError) {
        if case .refused(let error) = self { throw error }
    }

    static func denied(_ reason: String) -> Decision {
        .refused(ServerError(.accessDenied, reason))
    }
}
