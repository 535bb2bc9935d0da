import RecordControl
import RecordDaemon
import RecordModel
import RecordSync
import RecordWire

/// The settings of one store in config.json. The command line takes precedence.
struct StoreSettings: Sendable {
    var grace = Duration.seconds(3)
    var isReadOnly = false
    var mountpoint: String?
    /// The size on the disk of data that the server has too, in bytes. Nil without a limit.
    var cacheBytes: Int64?
    /// The state directory of a store with a name.
    var state: String?
    /// The account to which the store belongs. Its values are nil where the file sets none.
    var account = ConfiguredAccount(file: HostPaths.configuration)
    var policy = SyncPolicy()
    /// A command line for `/bin/sh`, run when others do something with a share.
    var notify: String?
    /// The path of the model that the store shows its records by.
    var model: String?

    /// Sets one member of the object of a store. Errors: `invalidArgument`.
    mutating func set(_ member: JSONMember) throws(RecordError) {
        switch (member.key.string, member.value) {
        case ("grace", .number(let number)) where (0...3600).contains(number.double):
            grace = .milliseconds(Int64(number.double * 1000))
        case ("readOnly", .bool(let value)): isReadOnly = value
        case ("mountpoint", .string(let text)) where Self.isPath(text.string):
            mountpoint = HostPaths.absolute(text.string)
        case ("cache", .string(let text)) where ByteCount.parse(text.string) != nil:
            cacheBytes = ByteCount.parse(text.string)
        case ("state", .string(let text)) where Self.isPath(text.string):
            state = HostPaths.absolute(text.string)
        case ("server", .string(let text)) where Self.isAddress(text.string):
            account.server = Self.withoutSlash(text.string)
        case ("container", .string(let text)) where !text.isEmpty: account.container = text.string
        case ("environment", .string(let text))
        where ServerEnvironment(rawValue: text.string) != nil:
            account.environment = text.string
        case ("user", .string(let text)) where !text.isEmpty: account.user = text.string
        case ("notify", .string(let text)) where !text.isEmpty: notify = text.string
        case ("model", .string(let text)) where Self.isPath(text.string):
            model = HostPaths.absolute(text.string)
        case ("databases", .array(let list)): try setDatabases(list)
        case ("zones", .object(let members)):
            for member in members { try setZone(member) }
        case ("public", .object(let members)):
            for member in members { try setPublic(member) }
        case (let key, _):
            guard let rule = Self.rules.first(where: { $0.key == key })?.rule else {
                throw RecordError(
                    .invalidArgument,
                    "\"\(key)\" is no setting. There are stores, "
                        + "\(Self.rules.map(\.key).joined(separator: ", ")).")
            }
            throw RecordError(.invalidArgument, "\"\(key)\" has a wrong value: it is \(rule).")
        }
    }

    private static let rules = [
        ("grace", "a number of seconds, 0 to 3600"), ("readOnly", "true or false"),
        ("mountpoint", "a path that begins with / or ~/"),
        ("cache", "\(ByteCount.rule), in quotes"),
        ("state", "a path that begins with / or ~/"),
        ("model", "a path that begins with / or ~/"),
        ("server", "an address that begins with https:// or http://"),
        ("container", "the name of a container"), ("environment", "development or production"),
        ("user", "an e-mail address"), ("notify", "a command line"),
        ("databases", "a list of private, shared and public"),
        ("zones", "an object of zones and full, onDemand or none; \"*\" is all others"),
        ("public", "an object with types, a list of record types, and interval, in seconds"),
    ].map { (key: $0.0, rule: $0.1) }

    /// Returns whether the path means the same place from any working directory.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") || text.hasPrefix("~/")
    }

    private static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("https://") || text.hasPrefix("http://")
    }

    private static func withoutSlash(_ text: String) -> String {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    private mutating func setDatabases(_ list: [JSONValue]) throws(RecordError) {
        var databases: Set<Database> = []
        for value in list {
            guard let name = value.string?.string, let database = Database(name: name),
                database != .local
            else { throw Self.wrong("databases") }
            databases.insert(database)
        }
        policy.databases = databases
    }

    private mutating func setZone(_ member: JSONMember) throws(RecordError) {
        guard let text = member.value.string?.string,
            let extent = SyncPolicy.Extent(rawValue: text), ZoneName(member.key.string).isValid
        else { throw Self.wrong("zones") }
        if member.key.string == "*" {
            policy.otherZones = extent
        } else {
            policy.zones[ZoneName(member.key.string)] = extent
        }
    }

    private mutating func setPublic(_ member: JSONMember) throws(RecordError) {
        switch (member.key.string, member.value) {
        case ("types", .array(let list)):
            var types: [RecordTypeName] = []
            for value in list {
                guard let name = value.string.map({ RecordTypeName(bytes: $0.utf8) }),
                    name.isValid
                else { throw Self.wrong("public") }
                types.append(name)
            }
            policy.publicTypes = types
        case ("interval", .number(let number)) where (1...86_400).contains(number.double):
            policy.publicInterval = .milliseconds(Int64(number.double * 1000))
        default: throw Self.wrong("public")
        }
    }

    private static func wrong(_ key: String) -> RecordError {
        let rule = rules.first { $0.key == key }?.rule ?? ""
        return RecordError(.invalidArgument, "\"\(key)\" has a wrong value: it is \(rule).")
    }
}
