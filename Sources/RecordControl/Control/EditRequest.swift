package import RecordModel

/// A request of a command that edits records by their members, or asks about a text.
package enum EditRequest: Sendable {
    /// Applies a JSON merge patch to records in one transaction: to all, or to none. With a
    /// condition, each record has to have these members before. The reply has a member `records`,
    /// with the path, the outcome and the changed members of each.
    case patch([RecordPath], JSONValue, condition: JSONValue?, isRehearsal: Bool)
    /// Saves a text that somebody has made from an earlier text of the record. Changes since then
    /// stay, unless the text changes the same members.
    case amend(RecordPath, text: [UInt8], since: [UInt8])
    /// Answers whether a save would accept a text, and which of its members are new to the type.
    case check(RecordPath, text: [UInt8])

    /// Indicates whether the files of the mount may differ afterwards.
    var mayChangeFiles: Bool {
        switch self {
        case .patch(_, _, _, let isRehearsal): !isRehearsal
        case .amend: true
        case .check: false
        }
    }

    private static let prefix = "edit."

    /// The name of the request, its members and its body, in the form of frames.
    var parts: (name: String, members: KeyValuePairs<String, JSONValue>, body: [UInt8]) {
        switch self {
        case .patch(let paths, let patch, let condition, let isRehearsal):
            (
                Self.prefix + "patch",
                [
                    "paths": .array(paths.map { .text($0.bytes) }),
                    "condition": condition ?? .null, "rehearsal": .bool(isRehearsal),
                ], patch.serialized()
            )
        case .amend(let path, let text, let since):
            // The body has the new text, then the text from which it was made.
            (
                Self.prefix + "amend", ["path": .text(path.bytes), "text": .integer(text.count)],
                text + since
            )
        case .check(let path, let text):
            (Self.prefix + "check", ["path": .text(path.bytes)], text)
        }
    }

    /// Reads a request. Returns nil for the name of another request.
    init?(name: String, _ frame: ControlFrame) throws(RecordError) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        let header = frame.header
        switch name.dropFirst(Self.prefix.count) {
        case "patch":
            let paths = try (header["paths"]?.array ?? []).map { (path) throws(RecordError) in
                try RecordPath(parsing: path.string?.utf8 ?? [])
            }
            let condition = header["condition"]?.object.map { JSONValue.object($0) }
            self = .patch(
                paths, try JSONParser.parse(frame.body), condition: condition,
                isRehearsal: header["rehearsal"]?.bool ?? false)
        case "amend":
            guard let count = header.integerMember("text").flatMap({ Int(exactly: $0) }),
                count >= 0, count <= frame.body.count
            else { throw RecordError(.invalidArgument, "the text does not fit the request.") }
            self = .amend(
                try ControlRequest.path(in: header), text: Array(frame.body[..<count]),
                since: Array(frame.body[count...]))
        case "check":
            self = .check(try ControlRequest.path(in: header), text: frame.body)
        default:
            throw RecordError(.unsupported, "the daemon does not know the request \"\(name)\".")
        }
    }
}
