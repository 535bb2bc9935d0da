import Foundation

/// The content of a server's join link:
/// `https://HOST/join#container=...&environment=...&token=...`. The values follow the #, so that
/// they are in no log on the way.
struct JoinAddress {
    let server: String
    var container: String?
    var environment: String?
    var token: String?

    /// Reads a link. Returns nil when the address is no join link. Errors: a link without a token.
    init?(_ text: String) throws(CommandFailure) {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(parts[0])
        guard address.hasSuffix("/join") || address.hasSuffix("/join/"),
            let end = address.range(of: "/join", options: .backwards)
        else { return nil }
        server = String(address[..<end.lowerBound])
        for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2,
                let value = String(sides[1]).removingPercentEncoding, !value.isEmpty
            else { continue }
            switch sides[0] {
            case "container": container = value
            case "environment": environment = value
            case "token": token = value
            default: break
            }
        }
        guard token != nil else {
            throw CommandFailure(
                address,
                "the link has no token. Put it in quotes, for a shell takes what stands behind an "
                    + "&: recordfs login '\(address)#container=...&token=...'",
                status: ExitStatus.usage)
        }
    }
}
