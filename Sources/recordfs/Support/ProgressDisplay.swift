import RecordControl

/// When a long command says how far it is. Times are those since it began.
struct ProgressPace {
    /// The time in which a command that ends shows nothing.
    let firstAfter: Duration
    /// From one time to the next.
    let pause: Duration
    private var lastShown: Duration?

    init(firstAfter: Duration?, pause: Duration) {
        self.firstAfter = firstAfter ?? pause
        self.pause = pause
    }

    /// True when it is time to say it again; then it is taken for said.
    mutating func isDue(after elapsed: Duration) -> Bool {
        guard elapsed >= (lastShown.map { $0 + pause } ?? firstAfter) else { return false }
        lastShown = elapsed
        return true
    }
}

/// How far a long command is, on standard error: a bar on a terminal, else one line a second.
final class ProgressDisplay {
    private static let barWidth = 24

    private let isQuiet: Bool
    private let isTerminal: Bool
    private let start = ContinuousClock.now
    private var pace: ProgressPace
    private var hasBar = false

    /// - Parameter firstAfter: what is done sooner shows nothing.
    init(isQuiet: Bool, firstAfter: Duration? = nil) {
        self.isQuiet = isQuiet
        isTerminal = Terminal.errorIsTerminal
        pace = ProgressPace(
            firstAfter: firstAfter, pause: isTerminal ? .milliseconds(100) : .seconds(1))
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
