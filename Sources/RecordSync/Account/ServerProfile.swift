import RecordStoreSync

/// The rules that an account's server follows.
package enum ServerProfile: String, CaseIterable, Sendable {
    /// The rules of recordfs-server: the protocol and its extensions.
    case recordfs
    /// The rules of Apple's own service: only the documented keys, and one request at a time for
    /// each web auth token.
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
                // When the engine ends, nothing has to wait.
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
            // This limit counts the texts of records; tags and escapes are added to them. A request
            // that is larger than the server allows is sent in halves.
            claims.bytes = 1_500_000
            requestBytes = 2_000_000
        }
    }
}
