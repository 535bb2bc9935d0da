package import RecordModel

/// A request of a command about shares. The server decides at once, and no request is kept for
/// later: only a daemon that is signed in can ask.
package enum SharingRequest: Sendable, Hashable {
    /// Joins the share of a link.
    case accept(link: Text)
    /// Declines the invitation of a link.
    case decline(link: Text)
    /// Asks for access to the share of a link.
    case requestAccess(link: Text)
    /// Returns the server's present state of the share of a zone or record.
    case show(RecordPath)
    /// Returns the bytes of the picture of a share.
    case thumbnail(RecordPath)
    /// Returns the people who would lose access through a change, and the access that they would
    /// lose. Without a change, returns this for the end of the share. It changes nothing.
    case preview(RecordPath, JSONValue?)
    /// Creates a share, or changes the existing one. The JSON describes it in the form that
    /// `ShareEdit` reads.
    case create(RecordPath, JSONValue)
    case change(RecordPath, JSONValue)
    /// Moves records and all that hangs on them to a new zone, and shares that zone.
    case createInOwnZone([RecordPath], zone: RecordPath, JSONValue)
    /// Moves records and all that hangs on them to a shared zone or below a shared record.
    case add([RecordPath], to: RecordPath)
    /// Ends a share of this account, or leaves a share of another user.
    case end(RecordPath)

    private static let prefix = "share."

    /// The name of the request and its members, in the form of frames.
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
        case .createInOwnZone(let paths, let zone, let edit):
            (
                Self.prefix + "createInOwnZone",
                ["paths": Self.json(paths), "to": .text(zone.bytes), "edit": edit]
            )
        case .add(let paths, let target):
            (Self.prefix + "add", ["paths": Self.json(paths), "to": .text(target.bytes)])
        case .end(let path): (Self.prefix + "end", ["path": .text(path.bytes)])
        }
    }

    /// Reads a request. Returns nil for the name of another request.
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
            self = .createInOwnZone(try Self.paths(in: header), zone: try path("to"), edit)
        case "add": self = .add(try Self.paths(in: header), to: try path("to"))
        case "end": self = .end(try path())
        default: return nil
        }
    }

    private static func json(_ paths: [RecordPath]) -> JSONValue {
        .array(paths.map { .text($0.bytes) })
    }

    private static func paths(in header: JSONValue) throws(RecordError) -> [RecordPath] {
        let paths = try (header["paths"]?.array ?? []).map { (path) throws(RecordError) in
            try RecordPath(parsing: path.string?.utf8 ?? [])
        }
        guard !paths.isEmpty else {
            throw RecordError(.invalidArgument, "the request names no record.")
        }
        return paths
    }
}
