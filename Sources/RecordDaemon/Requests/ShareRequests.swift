import RecordControl
import RecordModel
import RecordStore
import RecordSync
import RecordTree
import RecordWire

/// Sends requests about shares to the record server. Errors: also those of the server; unsupported
/// while no user is signed in.
struct ShareRequests: Sendable {
    let store: RecordStore
    let sync: MountedSync

    /// Runs a command's request.
    func run(_ request: SharingRequest) throws(RecordError) -> JSONValue {
        let service = try sync.signedIn()
        let places = SharedPlaces(store: store)
        switch request {
        case .accept(let link):
            let joined = try service.accept(link: link)
            let path = RecordPath(
                database: joined.zone.database, owner: joined.zone.owner, zone: joined.zone.name)
            return joined.share.json.adding("path", .text(path.bytes))
        case .decline(let link):
            try service.decline(link: link)
            return .object([])
        case .requestAccess(let link):
            try service.requestAccess(link: link)
            return .object([])
        case .show(let path): return try service.share(at: try places.place(path)).json
        case .thumbnail(let path):
            guard let bytes = try service.share(at: try places.place(path)).thumbnail else {
                throw RecordError(.notFound, "the share has no thumbnail.")
            }
            return ["$bytes": .string(Text(utf8: Base64.encode(bytes)))]
        case .preview(let path, let edit):
            let edit = try edit.map { (json) throws(RecordError) in try ShareEdit(json) }
            return try service.preview(edit, at: try places.place(path)).json
        case .create(let path, let edit):
            return try service.edit(try ShareEdit(edit), at: try places.place(path), isNew: true)
                .json
        case .change(let path, let edit):
            return try service.edit(try ShareEdit(edit), at: try places.place(path), isNew: false)
                .json
        case .createInOwnZone(let paths, let zone, let edit):
            let move = try TreeMove(of: records(paths), to: zone)
            return try Self.json(
                service.shareInOwnZone(move, try ShareEdit(edit)), of: paths)
        case .add(let paths, let target):
            return try Self.json(
                service.add(records(paths).map(\.id), to: try places.place(target)), of: paths)
        case .end(let path):
            try service.endShare(at: try places.place(path))
            return .object([])
        }
    }

    /// Runs the request of the file of a share.
    func run(_ order: ServerBridge.ShareOrder, of file: ShareFile) throws(RecordError) {
        let service = try sync.signedIn()
        let place = try SharedPlaces(store: store).place(file)
        switch order {
        case .save(let text): try service.save(shareText: text, at: place)
        case .check: _ = try service.share(at: place)
        case .end: try service.endShare(at: place)
        }
    }

    private func records(_ paths: [RecordPath]) throws(RecordError) -> [RecordEntry] {
        try paths.map { (path) throws(RecordError) in try store.record(at: path) }
    }

    /// Returns the share with the present paths of the records.
    private static func json(_ shared: SharedElsewhere, of paths: [RecordPath]) -> JSONValue {
        let zone = shared.zone
        let now = paths.map { path in
            JSONValue.text(
                RecordPath(
                    database: zone.database, owner: zone.owner, zone: zone.name, type: path.type,
                    item: path.item
                ).bytes)
        }
        guard let first = now.first else { return shared.share }
        let share = shared.share.adding("path", first)
        return now.count == 1 ? share : share.adding("paths", .array(now))
    }
}
