import RecordControl
import RecordModel

/// How the exchange with a record server stands, as a daemon says it of itself.
enum ExchangeState {
    /// One line, and one for each problem; none while nobody is signed in.
    static func lines(_ daemon: JSONValue?) -> [String] {
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
            } else {
                exchange["idle"]?.bool == true ? "up to date" : "working"
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
