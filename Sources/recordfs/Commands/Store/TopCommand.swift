import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore
import RecordStoreSync

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show running, waiting and failed changes, updated every second.",
        discussion: "Ctrl-C ends it. In a file or pipe, it prints the state once.")

    @OptionGroup var state: StateOptions

    private static let periodMilliseconds: Int32 = 1_000
    /// The number of changes that are shown when the output is no terminal.
    private static let changesInPipe = 10

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        var last: (token: Int64, at: ContinuousClock.Instant)?
        while true {
            let size = Terminal.outputSize
            let token = try access.reporting { () throws(RecordError) in
                try store.past.lastToken()
            }
            let now = ContinuousClock.now
            let speed = last.map {
                Double(token - $0.token) / max((now - $0.at) / .seconds(1), 0.001)
            }
            last = (token, now)
            let lines = try access.reporting { () throws(RecordError) in
                try standing(access, store, speed: speed)
                    + changes(store, upTo: token, atMost: size?.rows ?? Self.changesInPipe)
            }
            guard let size else {
                for line in lines { Terminal.print(line) }
                return
            }
            Self.draw(lines, size)
            poll(nil, 0, Self.periodMilliseconds)
        }
    }

    /// Draws from the top left corner. It clears the rest of each line and everything below the
    /// last.
    private static func draw(_ lines: [String], _ size: (columns: Int, rows: Int)) {
        let shown = lines.prefix(size.rows - 1).map { line in
            // Text of other people must not control the terminal.
            let text = String(
                line.unicodeScalars.map {
                    $0.properties.generalCategory == .control ? "?" : Character($0)
                })
            return text.prefix(size.columns) + "\u{1B}[K\r\n"
        }
        Terminal.print(Array(("\u{1B}[H" + shown.joined() + "\u{1B}[J").utf8))
    }

    private func standing(
        _ access: StoreAccess, _ store: RecordStore, speed: Double?
    ) throws(RecordError) -> [String] {
        let daemon = try access.daemon(timeoutSeconds: 10)
        let counts = try store.syncState.counts()
        var lines =
            [MountState(of: access, daemon).description]
            + ExchangeState.lines(daemon, counts)
        let unsaved = UnsavedRecords(of: daemon)
        if !unsaved.isEmpty { lines.append(unsaved.description(ofStore: access.directory)) }
        if let speed { lines.append("\(Int(speed.rounded())) changes a second") }
        return try lines + [""] + zones(store) + pins(store) + [""]
    }

    private func zones(_ store: RecordStore) throws(RecordError) -> [String] {
        var rows = [["ZONE", "RECORDS", "TO UPLOAD", "SINCE", "REFUSED", "CONFLICTS", "DRAFTS"]]
        for zone in try store.syncState.counts().zones {
            guard let info = try store.zone(zone.zone) else { continue }
            let path = RecordPath(database: info.database, owner: info.owner, zone: info.name)
            rows.append([
                path.description, "\(zone.records)", "\(zone.pending)",
                zone.oldestPending.map { Showing.time($0) } ?? "", "\(zone.refused)",
                "\(zone.conflicts)", "\(zone.drafts)",
            ])
        }
        return Terminal.table(rows, rightAligned: [1, 2, 4, 5, 6])
    }

    /// Returns the pins with files that are not downloaded yet.
    private func pins(_ store: RecordStore) throws(RecordError) -> [String] {
        var lines: [String] = []
        for pin in try store.assets.pins() where pin.missingFiles > 0 {
            guard let path = try pin.path(in: store) else { continue }
            lines.append("Pinned \(path): \(pin.words)")
        }
        return lines
    }

    /// Returns the changes, the newest first.
    private func changes(
        _ store: RecordStore, upTo token: Int64, atMost count: Int
    ) throws(RecordError) -> [String] {
        var lines: [String] = []
        for (version, zone) in try store.past.versions(
            after: max(0, token - Int64(count)), limit: count
        ).reversed() {
            let path = version.path(in: try store.syncState.syncedZone(zone))
            lines.append(store.model.named(version).line(path))
        }
        return lines
    }
}
