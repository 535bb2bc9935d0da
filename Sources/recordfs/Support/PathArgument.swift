import ArgumentParser
import RecordControl
import RecordModel

/// A record path on the command line: `private/Kitchen/Recipe/soup`, or a file on a mount.
struct PathArgument: ExpressibleByArgument, Sendable {
    let text: String

    init(argument: String) { text = argument }

    /// What the path stands for. Errors, as a failure about this argument: `invalidName`.
    func resolved() throws(CommandFailure) -> RecordPath {
        try reporting(text) { () throws(RecordError) in
            try RecordPath(Self.recordPath(of: text))
        }
    }

    /// A name that starts as a path of the system does, or is typed inside a mount, is looked for
    /// on the mounts.
    private static func recordPath(of text: String) -> String {
        let first = text.split(separator: "/").first ?? ""
        let isFile = ["/", "./", "../", "~/"].contains { text.hasPrefix($0) } || text == "."
        let isDatabase = Database(name: first) != nil
        if !isFile && isDatabase { return text }
        let path = Places.absolute(text)
        for mountpoint in MountTable.recordMounts().map(\.mountpoint) {
            if path == mountpoint { return "" }
            if path.hasPrefix(mountpoint + "/") {
                return String(path.dropFirst(mountpoint.count + 1))
            }
        }
        return text
    }
}
