import RecordServerCore
import RecordWire
import Synchronization

/// The counters for /metrics.
package final class ServerMetrics: Sendable {
    private struct RequestKey: Hashable {
        let endpoint: String
        let status: Int
    }

    private struct Latency {
        var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
        var count = 0
        var seconds = 0.0
    }

    private struct State {
        var requests: [RequestKey: Int] = [:]
        var latencies: [String: Latency] = [:]
        var refused: [String: Int] = [:]
        var signIns: [SignInOutcome: Int] = [:]
        var throttled = 0
        var assetBytesIn = 0
        var assetBytesOut = 0
    }

    /// Upper bounds of the latency histogram, in seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60]

    private let state = Mutex(State())
    private let connections = Atomic<Int>(0)
    private let polls = Atomic<Int>(0)
    private let waiting = Mutex((now: 0, most: 0))

    package init() {}

    /// Notes that more or fewer bytes of answers were handed to connections and not received by
    /// their clients.
    func noteWaiting(_ change: Int) {
        waiting.withLock { waiting in
            waiting.now += change
            waiting.most = max(waiting.most, waiting.now)
        }
    }

    /// The waiting bytes of answers that are sent in parts. `most` is the maximum since the start.
    package var waitingBytes: (now: Int, most: Int) { waiting.withLock { $0 } }

    func connectionOpened() { connections.add(1, ordering: .relaxed) }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }
    var openConnections: Int { connections.load(ordering: .relaxed) }
    func pollBegan() { polls.add(1, ordering: .relaxed) }
    func pollEnded() { polls.subtract(1, ordering: .relaxed) }

    /// Counts a connection or request that was refused before any route. `why` is one of few words.
    func noteRefused(_ why: String) { state.withLock { $0.refused[why, default: 0] += 1 } }

    func noteSignIn(_ outcome: SignInOutcome) {
        state.withLock { $0.signIns[outcome, default: 0] += 1 }
    }

    func note(
        _ facts: RequestFacts.Values, status: Int, bytesOut: Int?, duration: Duration
    ) {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        state.withLock { state in
            state.requests[RequestKey(endpoint: facts.endpoint, status: status), default: 0] += 1
            if facts.code == .throttled { state.throttled += 1 }
            if facts.endpoint == "assets/up" || facts.endpoint == "assets/down" {
                state.assetBytesIn += facts.bytesIn
                state.assetBytesOut += bytesOut ?? 0
            }
            guard facts.endpoint != "courier" else { return }
            var latency = state.latencies[facts.endpoint] ?? Latency()
            latency.count += 1
            latency.seconds += seconds
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound {
                latency.buckets[index] += 1
            }
            state.latencies[facts.endpoint] = latency
        }
    }

    /// Returns the text in the format of Prometheus. `gauges` are values from other parts of the
    /// server.
    func text(gauges: [MetricsGauge]) -> String {
        let state = state.withLock { $0 }
        var page = MetricsPage()
        page.head("recordfs_requests_total", "counter", "Requests by operation and status.")
        for (key, count) in state.requests.sorted(by: {
            ($0.key.endpoint, $0.key.status) < ($1.key.endpoint, $1.key.status)
        }) {
            page.value(
                "recordfs_requests_total",
                [("endpoint", key.endpoint), ("status", String(key.status))], String(count))
        }
        page.head(
            "recordfs_request_seconds", "histogram",
            "Time to the start of the answer, without long polls.")
        for (endpoint, latency) in state.latencies.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in zip(Self.bounds, latency.buckets) {
                page.value(
                    "recordfs_request_seconds_bucket",
                    [("endpoint", endpoint), ("le", String(bound))], String(count))
            }
            let label = [("endpoint", endpoint)]
            page.value(
                "recordfs_request_seconds_bucket", label + [("le", "+Inf")],
                String(latency.count))
            page.value("recordfs_request_seconds_sum", label, String(latency.seconds))
            page.value("recordfs_request_seconds_count", label, String(latency.count))
        }
        page.head(
            "recordfs_refused_total", "counter", "Connections and requests refused before a route.")
        for (why, count) in state.refused.sorted(by: { $0.key < $1.key }) {
            page.value("recordfs_refused_total", [("reason", why)], String(count))
        }
        page.head("recordfs_sign_ins_total", "counter", "Attempts to sign in by their outcome.")
        for outcome in SignInOutcome.allCases {
            page.value(
                "recordfs_sign_ins_total", [("outcome", outcome.rawValue)],
                String(state.signIns[outcome] ?? 0))
        }
        page.counter("recordfs_throttled_total", "Answers THROTTLED.", state.throttled)
        page.counter("recordfs_asset_bytes_in_total", "Received assets.", state.assetBytesIn)
        page.counter("recordfs_asset_bytes_out_total", "Sent assets.", state.assetBytesOut)
        let own = [
            MetricsGauge("recordfs_open_connections", "Connections.", Int64(openConnections)),
            MetricsGauge(
                "recordfs_long_polls", "Long polls.", Int64(polls.load(ordering: .relaxed))),
            MetricsGauge(
                "recordfs_answer_bytes_waiting", "Of large answers, not taken by their clients.",
                Int64(waitingBytes.now)),
            MetricsGauge(
                "recordfs_answer_bytes_waiting_most", "The most of it since the start.",
                Int64(waitingBytes.most)),
        ]
        for gauge in own + gauges {
            page.head(gauge.name, "gauge", gauge.help)
            page.value(gauge.name, [], String(gauge.value))
        }
        return page.text
    }
}

private struct MetricsPage {
    private(set) var text = ""

    mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    /// Adds a value. Labels hold names from tables of this program only, never text from a client.
    mutating func value(_ name: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    mutating func counter(_ name: String, _ help: String, _ count: Int) {
        head(name, "counter", help)
        value(name, [], String(count))
    }
}
