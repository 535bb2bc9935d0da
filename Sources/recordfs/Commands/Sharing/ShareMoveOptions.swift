import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordSync

/// The target of records that are moved before they are shared.
struct ShareMoveOptions: ParsableArguments {
    @Flag(help: "Move the records and all that hangs on them to a new zone, and share that zone.")
    var ownZone = false
    @Option(help: "The name of the new zone; by default the name of the record.")
    var zoneName: String?
    @Option(
        name: [.customLong("into"), .customLong("to")],
        help: "Move them to this zone, or below this record, which is already shared.")
    var into: PathArgument?
    @Flag(
        name: [.customShort("n"), .long],
        help: "Show what would be moved and which relationships would end, and change nothing.")
    var dryRun = false

    /// The place to which records move.
    private enum Target {
        case newZone(RecordPath)
        case shared(RecordPath)
    }

    func validate() throws {
        if ownZone, into != nil {
            throw ValidationError("--own-zone makes a new zone; --into names one that is there.")
        }
        if zoneName != nil, into != nil {
            throw ValidationError("--zone-name is for a new zone; --into names one that is there.")
        }
    }

    /// Returns the request. Returns nil when nothing is to be moved.
    func request(
        _ places: [LocatedPath], _ edit: ShareEdit, _ state: StateOptions
    ) throws -> SharingRequest? {
        let paths = places.map(\.path)
        switch try target(places, state) {
        case nil: return nil
        case .shared(let target): return .add(paths, to: target)
        case .newZone(let zone):
            var edit = edit
            // The name of the zone tells people nothing.
            if zoneName == nil { edit.title = edit.title ?? places[0].path.title }
            return .createInOwnZone(paths, zone: zone, edit.json)
        }
    }

    /// Prints the records that would be moved, and the relationships that would end.
    func show(_ places: [LocatedPath], _ state: StateOptions, json: Bool) throws {
        guard let target = try target(places, state, isSample: true) else {
            throw ValidationError("--dry-run is for --own-zone, --into and objects of a model.")
        }
        let access = places[0].store
        let store = try access.reader()
        let plan = try access.reporting(places.subject) {
            () throws(RecordError) -> TreeMovePlan in
            try Self.plan(of: places, to: target, store)
        }
        let zone =
            switch target {
            case .newZone(let path), .shared(let path): path
            }
        let listing = MoveListing(plan: plan, target: zone, json: json)
        listing.show(PathSpelling(for: access))
    }

    private static func plan(
        of places: [LocatedPath], to target: Target, _ store: RecordStore
    ) throws(RecordError) -> TreeMovePlan {
        let records = try places.map { (place) throws(RecordError) in
            try store.record(at: place.path)
        }
        switch target {
        case .newZone(let zone):
            var move = try TreeMove(of: records, to: zone)
            move.isShared = true
            return try store.past.plan(ofOwnZone: move)
        case .shared(let path):
            let parent = try path.stem == nil ? nil : store.meta(of: store.record(at: path).id)
            return try store.past.plan(
                of: try TreeMove(of: records, to: path, under: parent?.name))
        }
    }

    /// Returns the place to which records move. Returns nil when the first one is shared where it is.
    ///
    /// - Parameter isSample: whether nothing is made.
    private func target(
        _ places: [LocatedPath], _ state: StateOptions, isSample: Bool = false
    ) throws -> Target? {
        for place in places.dropFirst() { try check(place, isInStoreOf: places[0]) }
        if let into {
            let target = try into.located(by: state)
            try check(target, isInStoreOf: places[0])
            return .shared(target.path)
        }
        if try areObjects(places) {
            let name =
                zoneName.map { ZoneName(bytes: Array($0.utf8)) }
                ?? (isSample ? TreeMove.sampleZoneOfObjects : TreeMove.zoneOfObjects())
            return .newZone(try zone(name, for: places[0]))
        }
        if ownZone { return .newZone(try zone(nil, for: places[0])) }
        if zoneName != nil { throw ValidationError("--zone-name is for --own-zone.") }
        guard places.count == 1 else {
            throw CommandFailure(
                places[1].text,
                "several records are shared together in a zone: --own-zone makes one, and --into "
                    + "names one that is shared.")
        }
        return nil
    }

    private func check(_ place: LocatedPath, isInStoreOf first: LocatedPath) throws {
        guard HostDirectory.isSame(place.store.directory, first.store.directory) else {
            throw CommandFailure(
                place.text,
                "is in another store than \(first.text). A record is moved within one.")
        }
    }

    /// Returns whether all paths name objects of the attached model. These are shared in a zone of
    /// their own, as Core Data does it.
    private func areObjects(_ places: [LocatedPath]) throws -> Bool {
        guard places.allSatisfy({ $0.path.database == .private && $0.path.stem != nil }) else {
            return false
        }
        let store = try places[0].store.reader()
        guard store.model.attached != nil else { return false }
        return try places.allSatisfy { place in
            try place.reporting { () throws(RecordError) in
                try store.model.isObject(store.record(at: place.path).id)
            }
        }
    }

    /// Returns the new zone.
    ///
    /// - Parameter name: by default the one of the option or of the record.
    ///
    /// Errors: the record's name cannot be the name of a zone.
    private func zone(_ name: ZoneName?, for place: LocatedPath) throws -> RecordPath {
        guard place.path.database == .private, let stem = place.path.stem else {
            throw CommandFailure(
                place.text, "is no record of private: a zone can be shared as it is.")
        }
        let name =
            name
            ?? ZoneName(bytes: zoneName.map { Array($0.utf8) } ?? stem.decoded?.bytes ?? [])
        guard name.isValid else {
            throw CommandFailure(
                place.text, "\(name) cannot be the name of a zone. --zone-name gives another.")
        }
        return RecordPath(database: .private, zone: name)
    }
}

extension RecordPath {
    /// The title of a share of the record.
    fileprivate var title: Text? { stem?.decoded.map { Text(utf8: $0.bytes) } }
}

extension [LocatedPath] {
    /// The texts as the user wrote them.
    var subject: String { map(\.text).joined(separator: ", ") }
}
