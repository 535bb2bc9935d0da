import RecordControl
import RecordModel
import RecordStore

/// The state of the exchange with a record server, as a daemon reports it.
enum ExchangeState {
    /// Returns one line, and one for each problem. There are none while no user is signed in.
    static func lines(_ daemon: JSONValue?, _ counts: StoreCounts) -> [String] {
        guard let exchange = daemon?["sync"], let server = exchange.stringMember("server") else {
            return []
        }
        let problems = exchange["problems"]?.array ?? []
        let state =
            if exchange["needsSignIn"]?.bool == true {
                "the server no longer accepts the sign-in of this machine; recordfs login signs in again"
            } else if exchange["paused"]?.bool == true {
                "paused; recordfs resume goes on"
            } else if !problems.isEmpty {
                exchange.stringMember("nextTry").map { "waits until \($0)" } ?? "waits"
            } else if exchange["idle"]?.bool != true {
                "working"
            } else if let exceptions = exceptions(counts) {
                "up to date but for \(exceptions); recordfs sync says why"
            } else {
                "up to date"
            }
        let downloads = exchange["downloads"]?.array ?? []
        let profile = exchange.stringMember("profile") ?? "recordfs"
        let rules = profile == "recordfs" ? "" : ", profile \(profile)"
        let head = ["Server \(server)\(rules): \(state)"]
        return head + clockWarning(exchange.integerMember("clockAheadSeconds"))
            + downloads.map { zone in
                "  \(zone.stringMember("zone") ?? ""): \(zone.integerMember("received") ?? 0) of "
                    + "\(zone.integerMember("total") ?? 0) records were fetched"
            }
            + problems.map { problem in
                let zone = problem.stringMember("zone").map { "\($0): " } ?? ""
                return "  \(zone)\(problem.stringMember("message") ?? "")"
            }
    }

    /// The difference from which a warning about the clock is shown.
    private static let clockToleranceSeconds: Int64 = 60

    private static func clockWarning(_ ahead: Int64?) -> [String] {
        guard let ahead, ahead.magnitude > clockToleranceSeconds else { return [] }
        let way = ahead > 0 ? "behind" : "ahead of"
        return [
            "  The clock of this machine is \(duration(ahead.magnitude)) \(way) the server's. When two "
                + "machines edit a field independently, the edit with the later time wins: set the clock."
        ]
    }

    private static func duration(_ exact: UInt64) -> String {
        let units: [(UInt64, String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute")]
        // Servers report whole seconds: without rounding, an hour could appear as 59 minutes.
        let seconds = exact < 60 ? exact : exact + 30
        let (size, unit) = units.first { seconds >= $0.0 } ?? (1, "second")
        return Showing.count(Int(clamping: seconds / size), unit)
    }

    /// Returns the changes and records that permanently differ between both sides. Returns nil when
    /// there are none.
    private static func exceptions(_ counts: StoreCounts) -> String? {
        let refused = Int(clamping: counts.refused)
        let passedOver = Int(clamping: counts.passedOver)
        var parts: [String] = []
        if refused > 0 { parts.append(Showing.count(refused, "refused change")) }
        if passedOver > 0 {
            parts.append("\(Showing.count(passedOver, "record")) that cannot be shown here")
        }
        return parts.isEmpty ? nil : parts.joined(separator: " and ")
    }
}
