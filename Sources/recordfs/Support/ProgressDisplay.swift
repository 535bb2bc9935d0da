import RecordControl

/// How far a long command is, on standard error: a bar on a terminal, else one line a second.
final class ProgressDisplay {
    private static let barWidth = 24

    private let isQuiet: Bool
    private let isTerminal: Bool
    private let firstAfter: Duration?
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?
    private var hasBar = false

    /// - Parameter firstAfter: what is done sooner shows nothing.
    init(isQuiet: Bool, firstAfter: Duration? = nil) {
        self.isQuiet = isQuiet
        self.firstAfter = firstAfter
        isTerminal = Terminal.errorIsTerminal
    }

    func show(_ progress: ImportProgress) {
        guard !isQuiet else { return }
        let now = ContinuousClock.now
        let pause = isTerminal ? Duration.milliseconds(100) : Duration.seconds(1)
        if lastShown == nil, let firstAfter, now - start < firstAfter { return }
        guard now - (lastShown ?? start) >= pause else { return }
        lastShown = now
        let line = describe(progress, elapsed: now - start)
        if isTerminal {
            Terminal.write(Array("\r\u{1B}[K\(line.prefix(Terminal.width - 1))".utf8), to: 2)
            hasBar = true
        } else {
            Terminal.error(line)
        }
    }

    /// - Parameter names: what names the records.
    func finish(_ result: ImportProgress, names: String?) {
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        var parts = [
            "\(Showing.grouped(result.created)) created",
            "\(Showing.grouped(result.updated)) updated",
            "\(Showing.grouped(result.unchanged)) unchanged",
        ]
        if result.failed > 0 { parts.append("\(Showing.grouped(result.failed)) failed") }
        let end = names.map { "; \($0)" } ?? ""
        finish(parts.joined(separator: ", ") + " in \(Int(milliseconds)) ms\(end)")
    }

    func finish(_ line: String) {
        clear()
        if !isQuiet { Terminal.error(line) }
    }

    /// Takes the bar away.
    func clear() {
        if hasBar { Terminal.write(Array("\r\u{1B}[K".utf8), to: 2) }
        hasBar = false
    }

    private func describe(_ progress: ImportProgress, elapsed: Duration) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let rate = Showing.grouped(Int(Double(progress.rows) / seconds))
        let rows = "\(Showing.count(progress.rows, "row")), \(rate)/s"
        guard let total = progress.total, total > 0 else { return rows }
        let part = min(1, Double(progress.consumed) / Double(total))
        let percent = "\(Int(part * 100)) %"
        let remaining = part > 0.01 ? seconds / part - seconds : 0
        let rest = part > 0.01 ? ", \(Int(remaining.rounded(.up))) s left" : ""
        guard isTerminal else { return "\(percent), \(rows)\(rest)" }
        let filled = Int(part * Double(Self.barWidth))
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Self.barWidth - filled)
        return "[\(bar)] \(percent)  \(rows)\(rest)"
    }
}
