import RecordControl
package import RecordModel

/// The records whose texts only the daemon has, because it could not save them yet.
package struct UnsavedRecords {
    /// The largest number of names that are shown.
    private static let namesMax = 20

    private let count: Int
    private let names: [String]

    init(_ paths: [String]) {
        count = paths.count
        names = Array(paths.prefix(Self.namesMax))
    }

    /// Reads the records from the daemon's status.
    package init(of daemon: JSONValue?) {
        count = daemon?.integerMember("unsaved").map { Int(clamping: $0) } ?? 0
        let names = daemon?["unsavedRecords"]?.array ?? []
        self.names = names.compactMap { $0.string?.string }
    }

    package var isEmpty: Bool { count == 0 }

    package var numberMember: JSONValue { .integer(count) }
    package var namesMember: JSONValue { .array(names.map { .text($0) }) }

    /// Returns a message: `2 texts are not saved yet: PATH, PATH. How they are.`
    package func description(ofStore directory: String) -> String {
        let verb = count == 1 ? "is" : "are"
        let more = count > names.count ? " and \(Showing.grouped(count - names.count)) more" : ""
        return "\(Showing.count(count, "text")) \(verb) not saved yet: "
            + "\(names.joined(separator: ", "))\(more). Free space on the disk of \(directory), "
            + "and the daemon saves by itself."
    }

    /// Returns the reason why a mount is not ended.
    package func refusal(ofStore directory: String) -> String {
        description(ofStore: directory) + " --lazy ends the mount without them."
    }
}
