import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the changes, oldest first, one per line.",
        discussion: """
            The list has every save whose version is still kept, from this machine and from \
            others, with or without a mount. A program that keeps the last token can continue with \
            --after, and misses nothing. --sync lists the exchange with the record server instead: \
            its imports and exports, the errors, and the records that the server has refused. An \
            exchange that runs has no end yet; --follow prints it when it is over.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help: ArgumentHelp(
            "List only the changes after the one with this token (0 for all), or after a time: 10m, "
                + "2h or 3d ago, 2026-11-21, 2026-11-21T05:50.", valueName: "token or time"))
    var after: RestorePoint?
    @Option(
        name: [.customLong("before"), .customLong("until")],
        help: ArgumentHelp("List only the changes before this time.", valueName: "time"))
    var before: RestorePoint?
    @Flag(name: .shortAndLong, help: "Then print new changes as they happen, until Ctrl-C.")
    var follow = false
    @Flag(help: "Print one JSON object for each change.")
    var json = false
    @Flag(help: "List the exchange with the record server; --after takes its own numbers.")
    var sync = false

    @OptionGroup var filter: EventFilter
    @Option(help: "List at most this many changes, the latest ones.")
    var last: Int?
    @Option(help: "List at most this many changes, the first ones.")
    var limit: Int?
    @Flag(help: "Print only the number of changes.")
    var count = false
    @Option(
        help: ArgumentHelp(
            "Print what came since the last use of this name, and save how far it has read. --after "
                + "begins elsewhere.", valueName: "name"))
    var reader: HistoryReader.Name?
    @Flag(help: "With --reader: save nothing.")
    var peek = false

    func validate() throws {
        try filter.validate(isSync: sync)
        if last != nil, after != nil { throw ValidationError("--last and --after do not fit.") }
        if last != nil, limit != nil { throw ValidationError("--last and --limit do not fit.") }
        if follow, before != nil || limit != nil || count {
            throw ValidationError("--before, --limit and --count do not fit --follow.")
        }
        if peek, reader == nil { throw ValidationError("--peek is for --reader.") }
        if reader != nil, sync || last != nil || before != nil || (count && !peek) {
            throw ValidationError(
                "--sync, --last, --before, and --count without --peek, do not fit --reader.")
        }
        switch before {
        case .token?, .named?, .gesture?: throw ValidationError("--before is a time.")
        case .time?, .deletion?, nil: break
        }
        if sync, case .named? = after {
            throw ValidationError("With --sync, --after is a time or a number.")
        }
        for number in [last, limit] where (number ?? 0) < 0 {
            throw ValidationError("--last and --limit are numbers from 0 on.")
        }
    }

    mutating func run() throws {
        let access = try state.access()
        let store = try access.reader()
        after = try after.map(access.resolved)
        // Before the first read, so that no change between the two is missed.
        let watch = try access.reporting { () throws(RecordError) in
            follow ? try DirectoryWatch(directory: access.directory) : nil
        }
        var listing = EventListing(store: store, filter: filter, isSync: sync)
        listing.span = span
        // A program that follows hears of an exchange once: when it is over.
        listing.showsRunning = !follow
        var place = try reader.map {
            try ReaderPlace($0, in: access, store, from: start, peeks: peek)
        }
        if let place {
            listing.token = place.token
        } else {
            try access.reporting { () throws(RecordError) in try begin(&listing) }
        }
        var shown = EventOutput(last: last, limit: limit, isCounted: count, isJSON: json)
        while true {
            var hasMore = !shown.isFull
            while hasMore {
                hasMore = try access.reporting { () throws(RecordError) in
                    try listing.next { shown.add($0) }
                }
                // A failed write ends the program before this.
                try place?.save(listing.token)
            }
            shown.end()
            guard let watch else { return }
            watch.wait()
        }
    }

    /// The token at which a reader begins anew.
    private var start: Int64? {
        switch after {
        case .token(let token)?: token
        case .time?: 0
        case .deletion?, .named?, .gesture?, nil: nil
        }
    }

    /// The times between which changes are listed.
    private var span: EventListing.Span {
        var span = EventListing.Span()
        (span.after, span.before) = (after?.time, before?.time)
        return span
    }

    /// Sets the place at which the list begins.
    private func begin(_ listing: inout EventListing) throws(RecordError) {
        if case .token(let token)? = after {
            listing.token = token
        } else if let last, !filter.isSet, before == nil {
            listing.token = max(0, try listing.newest() - Int64(last))
        } else if after == nil, last == nil, follow {
            listing.token = try listing.newest()
        }
    }
}

/// Prints the lines of a list, or counts them.
struct EventOutput {
    let last: Int?
    let limit: Int?
    let isCounted: Bool
    let isJSON: Bool
    private var count = 0
    /// The last lines, while it is not known which of them are to be printed.
    private var kept: [EventLine] = []
    private var hasEnded = false

    init(last: Int?, limit: Int?, isCounted: Bool, isJSON: Bool) {
        (self.last, self.limit) = (last, limit)
        (self.isCounted, self.isJSON) = (isCounted, isJSON)
    }

    var isFull: Bool { count >= limit ?? .max }

    /// - Returns: whether more lines are wanted.
    mutating func add(_ line: EventLine) -> Bool {
        count += 1
        if !isCounted { keepOrPrint(line) }
        return !isFull
    }

    private mutating func keepOrPrint(_ line: EventLine) {
        guard let last, !hasEnded else { return print(line) }
        kept.append(line)
        guard kept.count > last * 2 else { return }
        kept.removeFirst(kept.count - last)
    }

    /// Prints what is left when the list is at its end for now.
    mutating func end() {
        defer { hasEnded = true }
        guard isCounted else {
            for line in kept.suffix(last ?? 0) { print(line) }
            kept = []
            return
        }
        let number = min(count, last ?? .max)
        guard isJSON else { return Terminal.print("\(number)") }
        Showing.jsonLine(.members(["count": .integer(number)]))
    }

    private func print(_ line: EventLine) {
        if isJSON {
            Showing.jsonLine(.object(line.members))
        } else {
            Terminal.print(line.text)
        }
    }
}
