import RecordServerCore
import RecordServerHTTP

extension ConfigurationKey {
    /// All keys, in the order of the sample file.
    package static let all: [ConfigurationKey] =
        places + operation + connections + rates + accounts + records

    private static let places: [ConfigurationKey] = [
        .text("data", \.dataDirectory, "The directory of the database, the assets and the lock."),
        .choice(
            "storage", \.storage,
            "The storage of records and accounts. `sqlite`: a file in the data directory."),
        ConfigurationKey(
            name: "listen",
            explanation: "HOST:PORT; port 0 means a free port. `[::]:8080` means every address.",
            apply: { $0.setListenAddress($1) }, show: { $0.authority }),
        .text("container", \.container, "The container that the first run creates."),
        ConfigurationKey(
            name: "public-url",
            explanation: "Scheme, host and port that clients use; all links of the server begin "
                + "with them. Empty: this machine.",
            apply: { $0.setPublicURL($1) }, show: { $0.publicURL ?? "" }),
        .name(
            "name", \.site.name,
            "The name of the server on its pages; a line of at most 100 characters."),
        .name(
            "operator", \.site.operatorName,
            "The operator, shown on the pages: a name, an e-mail address or a web address."),
        ConfigurationKey(
            name: "trusted-proxies",
            explanation: "Addresses and networks of proxies, separated by commas. X-Forwarded-For, "
                + "-Proto and -Host are trusted only from them.",
            apply: { $0.setTrustedProxies($1) },
            show: { $0.trustedProxies.map(\.text).joined(separator: ", ") }),
        .optional("tls-certificate", \.tlsCertificatePath, "PEM file of the certificate chain."),
        .optional("tls-key", \.tlsKeyPath, "PEM file of the private key of the certificate."),
        .number(
            "hsts-seconds", \.hstsSeconds, 0...63_072_000,
            "How long browsers that used https must use nothing else; 0: no rule."),
        .flag(
            "insecure", \.isInsecure,
            "Accepts plain HTTP from other machines: others can read passwords and tokens."
        ),
    ]

    private static let operation: [ConfigurationKey] = [
        .choice("log-format", \.logFormat, "`text` (key=value) or `json`, on standard error."),
        .choice("log-level", \.logLevel, "`debug`, `info` (one line per request), `warning`, ..."),
        .optional(
            "metrics-token", \.metricsToken,
            "Bearer token for /metrics. Empty: only this machine may read it, without a proxy."),
        .choice(
            "durability", \.durability,
            "`full`: every answered write survives a power failure. `normal`: the last may not."),
        .number(
            "maintenance-seconds", \.maintenanceSeconds, 1...86_400,
            "The time between two cleanups."),
        .number(
            "stop-seconds", \.stopSeconds, 0...3_600,
            "How long running requests may still take when the server stops."),
    ]

    private static let connections: [ConfigurationKey] = [
        .number("connections", \.limits.connections, 1...1_000_000, "Simultaneous connections."),
        .number(
            "connections-per-address", \.limits.connectionsPerAddress, 1...1_000_000,
            "Simultaneous connections from one address; trusted proxies have no limit."),
        .bytes(
            "header-bytes", \.limits.headerBytes, 1_024...1 << 20,
            "The size of the request line and all header fields."),
        .number(
            "header-fields", \.limits.headerFields, 10...10_000,
            "The number of header fields in a request."),
        .number(
            "header-seconds", \.limits.headerSeconds, 1...3_600,
            "The time for the header of a request to arrive."),
        .bytes(
            "body-bytes", \.limits.bodyBytes, 1 << 20...1 << 30,
            "The size of an operation or a form. Assets have their own limit."),
        .bytes(
            "anonymous-body-bytes", \.limits.anonymousBodyBytes, 1_024...1 << 30,
            "The size of an operation without a user."),
        .bytes(
            "memory-bytes", \.limits.memoryBytes, 8 << 20...(.max),
            "The memory for bodies, their values and answers of all running operations."),
        .number(
            "body-seconds", \.limits.bodySeconds, 1...3_600,
            "The time for the body of an operation to arrive."),
        .number(
            "upload-idle-seconds", \.limits.uploadIdleSeconds, 1...3_600,
            "The time between two parts of an upload."),
        .number(
            "keep-alive-seconds", \.limits.keepAliveSeconds, 1...3_600,
            "The time between two requests of a connection."),
        .number(
            "answer-seconds", \.limits.answerSeconds, 60...3_600,
            "The time for an answer to begin; long polls take up to 50."),
        .number(
            "write-idle-seconds", \.limits.writeIdleSeconds, 1...3_600,
            "How long a client may read nothing of its answer."),
    ]

    private static let rates: [ConfigurationKey] = [
        .rate("user-rate", \.rates.user.perSecond, "Requests per second of a user; 0: no limit."),
        .rate("user-burst", \.rates.user.burst, "Requests of a user at the same time."),
        .rate(
            "address-rate", \.rates.address.perSecond,
            "Requests per second of an address, without a user; 0: no limit."),
        .rate("address-burst", \.rates.address.burst, "Requests of an address at the same time."),
        .rate(
            "resolve-rate", \.rates.resolve.perSecond,
            "Requests per second of a user that look up or accept shares; 0: no limit."),
        .rate("resolve-burst", \.rates.resolve.burst, "Such requests at the same time."),
    ]

    private static let accounts: [ConfigurationKey] = [
        .number(
            "session-seconds", \.accounts.sessionSeconds, 60...31_536_000,
            "How long an unused web auth token is valid."),
        .number(
            "long-session-seconds", \.accounts.longSessionSeconds, 60...31_536_000,
            "The same time for people who stay signed in."),
        .number(
            "maximum-session-seconds", \.accounts.maximumSessionSeconds, 60...315_360_000,
            "After this time everybody must sign in again."),
        .number(
            "token-grace-seconds", \.accounts.graceSeconds, 0...86_400,
            "How long a token is valid after its successor was used; 0: it works once."),
    ]

    private static let records: [ConfigurationKey] = [
        .bytes(
            "quota-bytes", \.service.quotaBytes, 0...(.max),
            "The quota for the private databases of a user without their own quota."),
        .bytes(
            "public-quota-bytes", \.service.publicQuotaBytes, 0...(.max),
            "The quota for the public database of a container in one environment."),
        .bytes("asset-bytes", \.service.assetBytes, 1_024...1 << 40, "The size of one asset."),
        .bytes(
            "record-bytes", \.service.recordBytes, 1_024...16 << 20,
            "The size of one record's fields."),
        .number("zones", \.service.zonesPerDatabase, 1...100_000, "The zones of a database."),
        .number(
            "types", \.service.typesPerContainer, 1...100_000,
            "The record types of a container that saves in development create."),
        .number(
            "invitations", \.service.invitationsPerPerson, 1...100_000,
            "Invitations from one person to another that wait for an answer."),
        .number(
            "participants", \.service.participantsPerShare, 1...10_000,
            "The participants of one share."),
        .number(
            "tombstone-seconds", \.service.tombstoneSeconds, 60...315_360_000,
            "How long deletions are kept; older sync tokens expire."),
        .number(
            "tombstones", \.service.tombstonesPerZone, 1...100_000_000,
            "The deletions that are kept for a zone, whatever their age."),
        .number(
            "history-seconds", \.service.historySeconds, 60...315_360_000,
            "How long former states of private records are kept."),
        .number(
            "versions", \.service.versionsPerRecord, 0...10_000,
            "The former states that are kept of a record; 0 for none."),
        .number(
            "operation-result-seconds", \.service.operationResultSeconds, 60...31_536_000,
            "How long a repeated operation gets the same answer as the first time."),
        .flag(
            "strict", \.service.isStrict,
            "Accepts and answers only what is in Apple's reference: for tests of programs."
        ),
        .flag(
            "plain-list-tags", \.service.plainListTags,
            "Answers `LIST` instead of `STRING_LIST`, ..."),
    ]
}

extension ServerConfiguration {
    fileprivate mutating func setListenAddress(_ text: String) -> Bool {
        guard let colon = text.lastIndex(of: ":"),
            let number = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(number)
        else { return false }
        var name = text[..<colon]
        if name.first == "[", name.last == "]" { name = name.dropFirst().dropLast() }
        guard !name.isEmpty, text.first == "[" || !name.contains(":") else { return false }
        host = String(name)
        port = number
        return true
    }

    fileprivate mutating func setPublicURL(_ text: String) -> Bool {
        publicURL = text.isEmpty ? nil : text
        guard !text.isEmpty else { return true }
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
            return false
        }
        return ClientIdentity.cleanHost(String(text.dropFirst(scheme.count))) != nil
    }

    fileprivate mutating func setTrustedProxies(_ text: String) -> Bool {
        let names = text.split(whereSeparator: { $0 == "," || $0 == " " })
        let ranges = names.compactMap { AddressRange($0) }
        trustedProxies = ranges
        return ranges.count == names.count
    }
}
