extension ServerConfiguration {
    /// The warnings for the operator about settings that work but are probably a mistake, each a
    /// sentence.
    package var warnings: [String] {
        var warnings: [String] = []
        for range in trustedProxies where range.isEverything {
            warnings.append(
                "trusted-proxies: \(range.text) is everybody. Whoever connects says which address it has, "
                    + "so no address is slowed down, logged or let in rightly.")
        }
        if let url = publicURL, url.hasPrefix("http://"), !Self.isThisMachine(url) {
            warnings.append(
                "public-url: \(url) is no https address. Everybody on the way reads passwords and "
                    + "tokens, and browsers keep no cookies for this host alone.")
        }
        if let token = metricsToken, token.utf8.count < 16 {
            warnings.append("metrics-token: it is shorter than 16 characters, and can be guessed.")
        }
        if accounts.graceSeconds > 3_600 {
            warnings.append(
                "token-grace-seconds: a token that somebody has read stays good for longer than an hour."
            )
        }
        return warnings
    }

    private static func isThisMachine(_ url: String) -> Bool {
        var host = url.dropFirst("http://".count)
        if host.first == "[" {
            host = host.dropFirst().prefix { $0 != "]" }
        } else {
            host = host.prefix { $0 != ":" }
        }
        return IPAddress.isLoopbackName(String(host))
    }
}
