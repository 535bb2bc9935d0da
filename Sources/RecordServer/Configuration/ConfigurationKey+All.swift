extension ConfigurationKey {
    /// In the order of the sample file.
    package static let all: [ConfigurationKey] =
        places + operation + connections + rates + accounts + records

    private static let places: [ConfigurationKey] = [
        .text("data", \.dataDirectory, "The directory of the database, the assets and the lock."),
        .choice(
            "storage", \.storage,
            "Where records and accounts are kept. `sqlite`: in a file of the data directory."),
        ConfigurationKey(
            name: "listen",
            explanation: "HOST:PORT; port 0 takes a free one. `[::]:8080` is every address.",
            apply: { $0.setListenAddress($1) }, show: { $0.authority }),
        .text("container", \.container, "The container that the first run makes."),
        ConfigurationKey(
            name: "public-url",
            explanation: "Scheme, host and port that clients use; what the server hands out begins "
                + "so. Empty: this machine.",
            apply: { $0.setPublicURL($1) }, show: { $0.publicURL ?? "" }),
        .name(
            "name", \.site.name,
            "What people call the server, on its pages; a line of at most 100 characters."),
        .name(
            "operator", \.site.operatorName,
            "Who runs the server, on its pages: a name, an e-mail address or a web address."),
        ConfigurationKey(
            name: "trusted-proxies",
            explanation: "Addresses and networks of proxies, with commas between: X-Forwarded-For, "
                + "-Proto and -Host count from them only.",
            apply: { $0.setTrustedProxies($1) },
            show: { $0.trustedProxies.map(\.text).joined(separator: ", ") }),
        .optional("tls-certificate", \.tlsCertificatePath, "PEM file of the certificate chain."),
        .optional("tls-key", \.tlsKeyPath, "PEM file of the private key of the certificate."),
        .number(
            "hsts-seconds", \.hstsSeconds, 0...63_072_000,
            "How long browsers that came by https shall come by nothing else; 0: as they like."),
        .flag(
            "insecure", \.isInsecure,
            "Takes plain HTTP from other machines: whoever is on the way reads passwords and tokens."
        ),
    ]

    private static let operation: [ConfigurationKey] = [
        .choice("log-format", \.logFormat, "`text` (key=value) or `json`, on standard error."),
        .choice("log-level", \.logLevel, "`debug`, `info` (one line a request), `warning`, ..."),
        .optional(
            "metrics-token", \.metricsToken,
            "Bearer token for /metrics. Empty: only this machine may read it, and no proxy."),
        .choice(
            "durability", \.durability,
            "`full`: an answered write survives a power failure. `normal`: the last ones may not."),
        .number(
            "maintenance-seconds", \.maintenanceSeconds, 1...86_400,
            "Between two rounds of cleaning up."),
        .number(
            "stop-seconds", \.stopSeconds, 0...3_600,
            "How long running requests may take when the server stops."),
    ]

    private static let connections: [ConfigurationKey] = [
        .number("connections", \.limits.connections, 1...1_000_000, "Connections at once."),
        .number(
            "connections-per-address", \.limits.connectionsPerAddress, 1...1_000_000,
            "Connections at once of one address; trusted proxies have no limit."),
        .bytes(
            "header-bytes", \.limits.headerBytes, 1_024...1 << 20,
            "Of the request line and all header fields."),
        .number("header-fields", \.limits.headerFields, 10...10_000, "Header fields of a request."),
        .number(
            "header-seconds", \.limits.headerSeconds, 1...3_600,
            "For the header of a request to arrive."),
        .bytes(
            "body-bytes", \.limits.bodyBytes, 1 << 20...1 << 30,
            "Of an operation or a form. Assets have their own limit."),
        .bytes(
            "anonymous-body-bytes", \.limits.anonymousBodyBytes, 1_024...1 << 30,
            "Of an operation without a user."),
        .bytes(
            "memory-bytes", \.limits.memoryBytes, 8 << 20...(.max),
            "Bodies, their values and answers of all operations that are being done."),
        .number(
            "body-seconds", \.limits.bodySeconds, 1...3_600,
            "For the body of an operation to arrive."),
        .number(
            "upload-idle-seconds", \.limits.uploadIdleSeconds, 1...3_600,
            "Between two pieces of an upload."),
        .number(
            "keep-alive-seconds", \.limits.keepAliveSeconds, 1...3_600,
            "Between two requests of a connection."),
        .number(
            "answer-seconds", \.limits.answerSeconds, 60...3_600,
            "For an answer to begin; long polls take up to 50."),
        .number(
            "write-idle-seconds", \.limits.writeIdleSeconds, 1...3_600,
            "For a client that takes nothing of its answer."),
    ]

    private static let rates: [ConfigurationKey] = [
        .rate("user-rate", \.rates.user.perSecond, "Requests a second of a user; 0: any number."),
        .rate("user-burst", \.rates.user.burst, "Requests of a user at once."),
        .rate(
            "address-rate", \.rates.address.perSecond,
            "Requests a second of an address, without a user; 0: any number."),
        .rate("address-burst", \.rates.address.burst, "Requests of an address at once."),
        .rate(
            "resolve-rate", \.rates.resolve.perSecond,
            "Requests a second of a user that look up or accept shares; 0: any number."),
        .rate("resolve-burst", \.rates.resolve.burst, "Such requests at once."),
    ]

    private static let accounts: [ConfigurationKey] = [
        .number(
            "session-seconds", \.accounts.sessionSeconds, 60...31_536_000,
            "How long an unused web auth token is good."),
        .number(
            "long-session-seconds", \.accounts.longSessionSeconds, 60...31_536_000,
            "The same for people who stay signed in."),
        .number(
            "maximum-session-seconds", \.accounts.maximumSessionSeconds, 60...315_360_000,
            "After this everybody signs in again."),
        .number(
            "token-grace-seconds", \.accounts.graceSeconds, 0...86_400,
            "How long a token is good after its successor was used; 0: once."),
    ]

    private static let records: [ConfigurationKey] = [
        .bytes(
            "quota-bytes", \.service.quotaBytes, 0...(.max),
            "Of the private databases of a user who has no quota of their own."),
        .bytes(
            "public-quota-bytes", \.service.publicQuotaBytes, 0...(.max),
            "Of the public database of a container in one environment."),
        .bytes("asset-bytes", \.service.assetBytes, 1_024...1 << 40, "Of one asset."),
        .bytes("record-bytes", \.service.recordBytes, 1_024...16 << 20, "Of one record's fields."),
        .number("zones", \.service.zonesPerDatabase, 1...100_000, "Zones of a database."),
        .number(
            "types", \.service.typesPerContainer, 1...100_000,
            "Record types of a container that saves in development make."),
        .number(
            "invitations", \.service.invitationsPerPerson, 1...100_000,
            "Of one person to another that wait for an answer."),
        .number("participants", \.service.participantsPerShare, 1...10_000, "Of one share."),
        .number(
            "tombstone-seconds", \.service.tombstoneSeconds, 60...315_360_000,
            "How long deletions are kept: older sync tokens expire."),
        .number(
            "tombstones", \.service.tombstonesPerZone, 1...100_000_000,
            "Deletions that are kept of a zone, whatever their age."),
        .number(
            "operation-result-seconds", \.service.operationResultSeconds, 60...31_536_000,
            "How long a repeated operation is answered as the first time."),
        .flag(
            "strict", \.service.isStrict,
            "Takes and answers only what Apple's text has: for tests of programs."
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
