package import RecordModel

/// What a command wants of shares. The server decides, and nothing of it waits: only a daemon that is
/// signed in can ask.
package enum SharingRequest: Sendable, Hashable {
    /// Joins what the link of a share leads to.
    case accept(link: Text)
    /// Declines what the link of a share invites to.
    case decline(link: Text)
    /// Asks for access to what the link of a share leads to.
    case requestAccess(link: Text)
    /// What the server says of the share of a zone or record now.
    case show(RecordPath)
    /// The bytes of the picture that a share has.
    case thumbnail(RecordPath)
    /// What a change, or without one the end, would take from whom; changes nothing.
    case preview(RecordPath, JSONValue?)
    /// Makes a share, or changes the one that there is: the JSON says how, as `ShareEdit` reads it.
    case create(RecordPath, JSONValue)
    case change(RecordPath, JSONValue)
    /// Moves a record with what hangs on it to a new zone, and shares that.
    case createInOwnZone(RecordPath, zone: RecordPath, JSONValue)
    /// Moves a record with what hangs on it to a zone or below a record that is shared.
    case add(RecordPath, to: RecordPath)
    /// Ends a share of this account, or leaves one of others.
    case end(RecordPath)

    private static let prefix = "share."

    /// The name of the request and its members, as frames have them.
    var parts: (name: String, members: KeyValuePairs<String, JSONValue>) {
        switch self {
        case .accept(let link): (Self.prefix + "accept", ["link": .string(link)])
        case .decline(let link): (Self.prefix + "decline", ["link": .string(link)])
        case .requestAccess(let link): (Self.prefix + "request", ["link": .string(link)])
        case .show(let path): (Self.prefix + "show", ["path": .text(path.bytes)])
        case .thumbnail(let path): (Self.prefix + "thumbnail", ["path": .text(path.bytes)])
        case .preview(let path, nil): (Self.prefix + "preview", ["path": .text(path.bytes)])
        case .preview(let path, let edit?):
            (Self.prefix + "preview", ["path": .text(path.bytes), "edit": edit])
        case .create(let path, let edit):
            (Self.prefix + "create", ["path": .text(path.bytes), "edit": edit])
        case .change(let path, let edit):
            (Self.prefix + "change", ["path": .text(path.bytes), "edit": edit])
        case .createInOwnZone(let path, let zone, let edit):
            (
                Self.prefix + "createInOwnZone",
                ["path": .text(path.bytes), "to": .text(zone.bytes), "edit": edit]
            )
        case .add(let path, let target):
            (Self.prefix + "add", ["path": .text(path.bytes), "to": .text(target.bytes)])
        case .end(let path): (Self.prefix + "end", ["path": .text(path.bytes)])
        }
    }

    /// Nil for the name of another request.
    init?(name: String, _ header: JSONValue) throws(RecordError) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        func path(_ key: String = "path") throws(RecordError) -> RecordPath {
            try ControlRequest.path(key, in: header)
        }
        let edit = header["edit"] ?? .object([])
        switch name.dropFirst(Self.prefix.count) {
        case "accept": self = .accept(link: header["link"]?.string ?? "")
        case "decline": self = .decline(link: header["link"]?.string ?? "")
        case "request": self = .requestAccess(link: header["link"]?.string ?? "")
        case "show": self = .show(try path())
        case "thumbnail": self = .thumbnail(try path())
        case "preview": self = .preview(try path(), header["edit"])
        case "create": self = .create(try path(), edit)
        case "change": self = .change(try path(), edit)
        case "createInOwnZone":
            self = .createInOwnZone(try path(), zone: try path("to"), edit)
        case "add": self = .add(try path(), to: try path("to"))
        case "end": self = .end(try path())
        default: return nil
        }
    }
}
