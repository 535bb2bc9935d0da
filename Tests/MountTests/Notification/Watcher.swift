import Glibc

/// inotifywait on a folder, with its events in the order in which they came.
final class Watcher {
    private let terminal: Terminal

    /// Returns when the watch is set. A terminal makes inotifywait write each line at once.
    init(_ folder: String) throws {
        terminal = try Terminal([
            "inotifywait", "-m", "--format", "<%e %f>", folder,
        ])
        try terminal.expect("Watches established")
    }

    /// Waits for an event on a name, such as `CREATE x.json` or `MOVED_FROM x.json`.
    func expect(_ events: String...) throws {
        for event in events { try terminal.expect("<\(event)>", seconds: 10) }
    }

    var text: String { terminal.text }
}
