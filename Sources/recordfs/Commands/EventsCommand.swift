import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List what has changed, oldest first, a line for each change.",
        discussion: """
            Every save is there for as long as its version is kept, whoever made it: this machine or \
            another, with or without a mount. A program that keeps the last token goes on with \
            --after, and misses nothing.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "Only what came after the change with this token; 0 for all.")
    var after: Int64?
    @Flag(name: .shortAndLong, help: "Go on with what changes from now on, until Ctrl-C.")
    var follow = false
    @Flag(help: "One JSON object for each change.")
    var json = false

    /// How many are read at a time.
    private static let page = 1_000

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        try access.reporting { () throws(RecordError) in
            // Before the first look, so that nothing is between the two.
            let watch = follow ? try DirectoryWatch(directory: access.directory) : nil
            var last: Int64 = 0
            if let after { last = after } else if follow { last = try store.lastToken() }
            var zones: [ZoneID: SyncedZone] = [:]
            while true {
                let changes = try store.versions(after: last, limit: Self.page)
                for (version, zone) in changes {
                    if zones[zone] == nil { zones[zone] = try store.syncedZone(zone) }
                    show(version, version.path(in: zones[zone]))
                    last = version.token
                }
                if changes.count == Self.page { continue }
                guard let watch else { return }
                watch.wait()
            }
        }
    }

    private func show(_ version: Version, _ path: String) {
        guard json else {
            Terminal.print(version.line(path))
            return
        }
        Showing.jsonLine(
            .members([
                "token": .integer(version.token), "at": .text(Showing.time(version.at)),
                "author": .text(version.author.rawValue), "change": .text(version.kind.rawValue),
                "path": .text(path), "size": .integer(version.size),
            ]))
    }
}

extension Version {
    /// Also of a zone that was removed since.
    func path(in zone: SyncedZone?) -> String {
        RecordPath(
            database: zone?.database, owner: zone?.owner ?? .me, zone: zone?.name,
            type: type, item: .record(Stem(encoding: name))
        ).description
    }

    func line(_ path: String) -> String {
        let author = author.rawValue.padded(to: 7)
        let kind = kind.rawValue.padded(to: 8)
        return "\(token)  \(Showing.time(at))  \(author)  \(kind)  \(path)"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
