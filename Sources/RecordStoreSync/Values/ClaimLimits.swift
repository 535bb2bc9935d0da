package import RecordStore

/// The limits of one request.
package struct ClaimLimits: Hashable, Sendable {
    package var records: Int
    /// The bytes of texts. The first change is taken even if it is larger.
    package var bytes: Int

    package init(records: Int = 200, bytes: Int = 2_000_000) {
        self.records = records
        self.bytes = bytes
    }
}

/// Changes that are not taken now although they are ready: the server has just refused them for a
/// reason that other people can remove.
package struct ClaimExceptions: Hashable, Sendable {
    /// The numbers of these changes in the outbox.
    package var rows: Set<Int64> = []
    /// Indicates whether new records are excepted, because they need space.
    package var creates = false

    package init() {}

    package func contains(_ row: OutboxRow) -> Bool {
        rows.contains(row.id) || creates && row.operation == .create
    }
}

/// A request with outgoing changes that may have reached the server and has no answer.
package struct SentRequest: Sendable {
    package let body: [UInt8]
    /// The changes in it, without their documents, because the body contains them.
    package let claims: [OutboxClaim]
}
