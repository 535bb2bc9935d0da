import RecordControl
import RecordModel

/// How the exchange with a record server stands, as a daemon says it of itself.
enum ExchangeState {
    /// One line, and one for each problem; none while nobody is signed in.
    ///
    /// - Parameter refused: how many changes the server has refused.
    static func lines(_ daemon: JSONValue?, refused: Int64) -> [String] {
        guard let exchange = daemon?["sync"], let server = exchange.stringMember("server") else {
            return []
        }
        let problems = exchange["problems"]?.array ?? []
        let state =
            if exchange["needsSignIn"]?.bool == true {
                "signed out there; recordfs login signs in again"
            } else if exchange["paused"]?.bool == true {
                "paused; recordfs resume goes on"
            } else if !problems.isEmpty {
                "waits"
            } else if exchange["idle"]?.bool != true {
                "working"
            } else if refused > 0 {
                "up to date but for \(Showing.count(Int(clamping: refused), "refused change")); "
                    + "recordfs sync says why"
            } else {
                "up to date"
            }
        let downloads = exchange["downloads"]?.array ?? []
        let profile = exchange.stringMember("profile") ?? "recordfs"
        let rules = profile == "recordfs" ? "" : ", profile \(profile)"
        return ["Server \(server)\(rules): \(state)"]
            + downloads.map { zone in
                "  \(zone.stringMember("zone") ?? ""): \(zone.integerMember("received") ?? 0) of "
                    + "\(zone.integerMember("total") ?? 0) records have come"
            }
            + problems.map { problem in
                let zone = problem.stringMember("zone").map { "\($0): " } ?? ""
                return "  \(zone)\(problem.stringMember("message") ?? "")"
            }
    }
}
