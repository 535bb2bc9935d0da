import RecordStore

/// By whose rules an account's server goes.
package enum ServerProfile: String, CaseIterable, Sendable {
    /// recordfs-server's: the protocol and its extensions.
    case recordfs
    /// Those of Apple's own service: the documented keys alone, and one request for each web auth
    /// token at a time.
    case cloudkit
}

extension Exchange.Settings {
    package init(_ account: Account) {
        self.init(profile: account.profile)
        environment = account.environment
        waitForMore = {
            do {
                try await Task.sleep(for: .milliseconds(100))
            } catch {
                // Whoever ends the engine does not wait.
            }
        }
    }

    package init(profile: ServerProfile) {
        self.init()
        switch profile {
        case .recordfs:
            pageRecords = 2_000
            readsAhead = true
        case .cloudkit:
            hasExtensions = false
            // Tags and escapes come to the texts of records, which this counts; the request that is
            // larger than it may be goes in halves.
            claims.bytes = 1_500_000
            requestBytes = 2_000_000
        }
    }
}
