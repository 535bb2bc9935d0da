import ArgumentParser
import Logging
import RecordModel

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Print what the store's daemon has logged.",
        discussion: """
            Each line has its time, level and category: recordfs for the mount, RecordSync for the \
            exchange with the server, RecordMount, RecordTree and RecordStore for what they are. The log \
            begins anew with a mount when it has grown large; the one before it is beside it, with .1.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help:
            "Only this level and graver ones: trace, debug, info, notice, warning, error, critical."
    )
    var level: LogLevel?
    @Option(help: "Only this category.")
    var category: String?
    @Flag(name: .shortAndLong, help: "Go on with what comes from now on, until Ctrl-C.")
    var follow = false

    func run() throws {
        let access = try state.access()
        let path = Places.log(ofState: access.directory)
        if let level, level.level < LogLevel.ofDaemon {
            Terminal.error(
                "note: a mount writes info and above, unless it was started with "
                    + "RECORDFS_LOG=\(level.rawValue) recordfs mount.")
        }
        try reporting(path) { () throws(RecordError) in
            let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            let log = try LogFile(path)
            // Before the first look, so that nothing is between the two.
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

    /// The category stands behind the program's name and the values, before the text.
    private static func isCategory(_ word: ArraySlice<UInt8>) -> Bool {
        word.first == UInt8(ascii: "[") && word.last == UInt8(ascii: "]")
            && word.dropFirst().dropLast().allSatisfy { Character(UnicodeScalar($0)).isLetter }
    }

    /// Nil for a line that goes on with the one before it.
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

    /// What a daemon writes: RECORDFS_LOG, else info and above.
    static var ofDaemon: Logger.Level {
        Places.environment("RECORDFS_LOG").flatMap(Logger.Level.init(rawValue:)) ?? .info
    }

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .trace }
}
