import RecordControl
import RecordModel

/// The settings of config.json; the command line comes first.
struct Configuration: Sendable {
    var grace = Duration.seconds(3)
    var isReadOnly = false
    var mountpoint: String?
    /// How much stays on the disk of what the server has too, in bytes; nil without a limit.
    var cacheBytes: Int64?

    /// Errors: `invalidJSON`, `invalidArgument` for an unknown or wrong setting. A missing file is
    /// one without settings.
    static func read(_ path: String = Places.configuration) throws(RecordError) -> Configuration {
        let text: [UInt8]
        do {
            text = try readWholeFile(path)
        } catch {
            if error.code == .notFound { return Configuration() }
            throw error
        }
        var result = Configuration()
        guard let members = try JSONParser.parse(text).object else {
            throw RecordError(.invalidArgument, "the settings must be one object.")
        }
        for member in members { try result.set(member) }
        return result
    }

    private mutating func set(_ member: JSONMember) throws(RecordError) {
        switch (member.key.string, member.value) {
        case ("grace", .number(let number)) where (0...3600).contains(number.double):
            grace = .milliseconds(Int64(number.double * 1000))
        case ("readOnly", .bool(let value)): isReadOnly = value
        case ("mountpoint", .string(let text)): mountpoint = Places.absolute(text.string)
        case ("cache", .string(let text)) where ByteCount.parse(text.string) != nil:
            cacheBytes = ByteCount.parse(text.string)
        case ("grace", _), ("readOnly", _), ("mountpoint", _), ("cache", _):
            throw RecordError(
                .invalidArgument,
                "\"\(member.key)\" has a wrong value. grace is in seconds, 0 to 3600; readOnly is "
                    + "true or false; mountpoint is a path; cache is \(ByteCount.rule), in quotes.")
        default:
            throw RecordError(
                .invalidArgument,
                "\"\(member.key)\" is no setting. There are grace, readOnly, mountpoint and cache.")
        }
    }
}
