import RecordModel

/// Where a scratch file is: its directory and its name there.
struct ScratchPlace: Hashable, Sendable {
    enum Directory: Hashable, Sendable {
        case database(Database)
        case zone(ZoneID)
        case type(TypeID)
        case scratch(ScratchID)
    }
    let directory: Directory
    let name: [UInt8]
}

/// The scratch files that the kernel knows, by id and by place.
///
/// A path is never stored, it is walked: a renamed directory takes its children along.
/// INVARIANT: `ids[places[i]] == i` for every id that still has a name.
struct ScratchTable {
    private var places: [ScratchID: ScratchPlace] = [:]
    private var ids: [ScratchPlace: ScratchID] = [:]
    private var next: UInt64 = 1

    mutating func id(at place: ScratchPlace) -> ScratchID {
        if let id = ids[place] { return id }
        let id = ScratchID(rawValue: next)
        next += 1
        places[id] = place
        ids[place] = id
        return id
    }

    /// Nil when the file has lost its name but is still open.
    func place(of id: ScratchID) -> ScratchPlace? { places[id] }

    mutating func move(_ place: ScratchPlace, to target: ScratchPlace) {
        remove(target)
        guard let id = ids.removeValue(forKey: place) else { return }
        places[id] = target
        ids[target] = id
    }

    mutating func exchange(_ place: ScratchPlace, _ other: ScratchPlace) {
        let (id, otherID) = (ids.removeValue(forKey: place), ids.removeValue(forKey: other))
        if let id {
            places[id] = other
            ids[other] = id
        }
        if let otherID {
            places[otherID] = place
            ids[place] = otherID
        }
    }

    /// The name is gone; the id stays for those who have the file open, until `forget`.
    mutating func remove(_ place: ScratchPlace) {
        guard let id = ids.removeValue(forKey: place) else { return }
        places[id] = nil
    }

    mutating func forget(_ id: ScratchID) {
        if let place = places.removeValue(forKey: id), ids[place] == id { ids[place] = nil }
    }

    /// The path below the scratch root; nil when a part of it has lost its name.
    func relativePath(_ place: ScratchPlace) -> [UInt8]? {
        guard let directory = relativePath(place.directory) else { return nil }
        return directory + [UInt8(ascii: "/")] + place.name
    }

    func relativePath(_ directory: ScratchPlace.Directory) -> [UInt8]? {
        switch directory {
        case .database(let database): Array("d\(database.rawValue)".utf8)
        case .zone(let zone): Array("z\(zone.rawValue)".utf8)
        case .type(let type): Array("t\(type.rawValue)".utf8)
        case .scratch(let id): places[id].flatMap(relativePath)
        }
    }
}
