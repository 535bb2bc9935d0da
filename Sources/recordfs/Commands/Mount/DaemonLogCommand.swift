import ArgumentParser
import Logging
import RecordControl
import RecordModel

struct DaemonLogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon-log", abstract: "Print the log of the daemon.",
        discussion: """
            Each line has a time, a level and a category: recordfs for the mount, RecordSync for \
            the exchange with the server, and RecordMount, RecordTree and RecordStore for those \
            modules. A mount starts a new log when the log is large; the old log is next to it, \
            with .1.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help:
            "Print this level and above: trace, debug, info, notice, warning, error, critical."
    )
    var level: LogLevel?
    @Option(help: "Print only this category.")
    var category: String?
    @Flag(name: .shortAndLong, help: "Then print new lines as they are written, until Ctrl-C.")
    var follow = false

    func run() throws {
        let access = try state.access()
        let path = HostPaths.log(ofState: access.directory)
        if let level, level.level < LogLevel.ofDaemon {
            Terminal.error(
                "note: a mount writes info and above, unless it was started with "
                    + "RECORDFS_LOG=\(level.rawValue) recordfs mount.")
        }
        try reporting(path) { () throws(RecordError) in
            let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            let log = try LogFile(path)
            // Before the first read, so that no change between the two is missed.
            let watch = follow ? try DirectoryWatch(directory: folder) : nil
            var isShown = true
            while true {
                for line in try log.newLines() {
                    isShown = matches(line) ?? isShown
                    if isShown { Terminal.print(line + [0x0A]) }
                }
                guard let watch else { return }
                watch.wait()
            }
        }
    }

    /// Returns whether the word is the category. It follows the program's name and the values, and
    /// comes before the text.
    private static func isCategory(_ word: ArraySlice<UInt8>) -> Bool {
        word.first == UInt8(ascii: "[") && word.last == UInt8(ascii: "]")
            && word.dropFirst().dropLast().allSatisfy { Character(UnicodeScalar($0)).isLetter }
    }

    /// Returns whether the line matches. Returns nil for a line that continues the one before it.
    private func matches(_ line: [UInt8]) -> Bool? {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count == 3,
            let level = Logger.Level(rawValue: String(decoding: words[1], as: UTF8.self))
        else { return nil }
        guard level >= self.level?.level ?? .trace else { return false }
        guard let category else { return true }
        return words[2].split(separator: UInt8(ascii: " ")).first(where: Self.isCategory)
            .map { $0.elementsEqual("[\(category)]".utf8) } ?? false
    }
}

/// The levels of swift-log, for the command line.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    /// The lowest level that a daemon writes: RECORDFS_LOG, or info without it.
    static var ofDaemon: Logger.Level {
        environmentVariable("RECORDFS_LOG").flatMap(Logger.Level.init(rawValue:)) ?? .info
    }

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .trace }
}
