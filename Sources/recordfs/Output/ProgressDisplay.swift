import RecordControl

/// The times at which a long command shows its progress. They count from its start.
struct ProgressPace {
    /// The time within which a command that ends shows nothing.
    let firstAfter: Duration
    /// The time between two reports.
    let pause: Duration
    private var lastShown: Duration?

    init(firstAfter: Duration?, pause: Duration) {
        self.firstAfter = firstAfter ?? pause
        self.pause = pause
    }

    /// Returns whether it is time for the next report. It then counts as shown.
    mutating func isDue(after elapsed: Duration) -> Bool {
        guard elapsed >= (lastShown.map { $0 + pause } ?? firstAfter) else { return false }
        lastShown = elapsed
        return true
    }
}

/// The progress of a long command on standard error: a bar on a terminal, otherwise one line a
/// second.
final class ProgressDisplay {
    private static let barWidth = 24

    private let isQuiet: Bool
    private let isTerminal: Bool
    private let start = ContinuousClock.now
    private var pace: ProgressPace
    private var hasBar = false

    /// Starts the clock.
    ///
    /// - Parameter firstAfter: a command that ends sooner shows nothing.
    init(isQuiet: Bool, firstAfter: Duration? = nil) {
        self.isQuiet = isQuiet
        isTerminal = Terminal.errorIsTerminal
        pace = ProgressPace(
            firstAfter: firstAfter, pause: isTerminal ? .milliseconds(100) : .seconds(1))
    }

    /// Shows the number of rows that were read so far.
    func show(rows: Int) {
        var progress = ImportProgress()
        progress.rows = rows
        show(progress)
    }

    func show(_ progress: ImportProgress) {
        guard !isQuiet else { return }
        let elapsed = ContinuousClock.now - start
        guard pace.isDue(after: elapsed) else { return }
        let line = describe(progress, elapsed: elapsed)
        if isTerminal {
            Terminal.write(Array("\r\u{1B}[K\(line.prefix(Terminal.width - 1))".utf8), to: 2)
            hasBar = true
        } else {
            Terminal.error(line)
        }
    }

    /// Shows the result.
    ///
    /// - Parameter names: the rule that names the records.
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

    /// Removes the bar.
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
