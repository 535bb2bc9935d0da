import RecordServerCore
import RecordServerHTTP

extension ServerConfiguration {
    /// The warnings for the operator about settings that work but are probably a mistake, each a
    /// sentence.
    package var warnings: [String] {
        var warnings: [String] = []
        for range in trustedProxies where range.isEverything {
            warnings.append(
                "trusted-proxies: \(range.text) is every address. Every client can then claim any "
                    + "address, so rate limits, logs and rules for addresses do not work.")
        }
        if let url = publicURL, url.hasPrefix("http://"), !Self.isThisMachine(url) {
            warnings.append(
                "public-url: \(url) is no https address. Others on the network can read passwords and "
                    + "tokens, and browsers do not limit cookies to this host.")
        }
        if let token = metricsToken, token.utf8.count < 16 {
            warnings.append("metrics-token: it is shorter than 16 characters, and can be guessed.")
        }
        if accounts.graceSeconds > 3_600 {
            warnings.append(
                "token-grace-seconds: a token that somebody has read stays valid for over an hour."
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
