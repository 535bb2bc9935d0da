import Glibc
import RecordModel

/// The way to a scratch file: from a held file, otherwise from the scratch root.
struct ScratchRoute: Sendable {
    var base: HostFile?
    var path: [UInt8]
}

/// The scratch files that the kernel knows, by id, by place and by their identity on the host. All
/// names of a linked file have one id.
///
/// A path is never stored but always computed: a renamed directory keeps its children.
///
/// INVARIANTS
/// - `ids[p] == i` exactly if `files[i].places` has `p`.
/// - `identities[f] == i` exactly if `files[i].identity == f`.
/// - `entries[d]` has the places in a known directory.
/// - A file without places is held.
struct ScratchTable: CheckedState {
    struct File {
        var places: Set<ScratchPlace> = []
        /// The identity. Nil until the host was asked.
        var identity: HostIdentity?
        /// The program that last opened it for writing (`ProgramTable`).
        var writer: Int32?
        /// The file itself, when its names are removed or about to be removed while the kernel
        /// knows it.
        var held: HostFile?
    }

    private(set) var files: [ScratchID: File] = [:]
    private(set) var ids: [ScratchPlace: ScratchID] = [:]
    private(set) var identities: [HostIdentity: ScratchID] = [:]
    private(set) var entries: [ScratchID: Set<ScratchPlace>] = [:]
    private(set) var next: UInt64 = 1

    var size: Int { files.count + ids.count }

    var violations: [String] {
        var found: [String] = []
        let named = files.flatMap { id, file in file.places.map { ($0, id) } }
        if named.count != ids.count || named.contains(where: { ids[$0.0] != $0.1 }) {
            found.append("a place and its file do not agree")
        }
        let identified = files.filter { $0.value.identity != nil }
        let isKnownAs = { (id: ScratchID, file: File) in
            file.identity.map { self.identities[$0] == id } ?? true
        }
        if identified.count != identities.count || !identified.allSatisfy(isKnownAs) {
            found.append("an identity and its file do not agree")
        }
        let isListed = { (place: ScratchPlace) in
            guard case .scratch(let directory) = place.directory,
                self.files[directory] != nil
            else { return true }
            return self.entries[directory]?.contains(place) == true
        }
        if !ids.keys.allSatisfy(isListed) { found.append("a directory lacks a place") }
        if files.values.contains(where: { $0.places.isEmpty && $0.held == nil }) {
            found.append("a file has no place and is not held")
        }
        return found
    }

    /// Returns the file of a name. The host may have any file there.
    mutating func id(at place: ScratchPlace) -> ScratchID {
        if let id = ids[place] { return id }
        let id = make()
        add(place, to: id)
        return id
    }

    func knownID(at place: ScratchPlace) -> ScratchID? { ids[place] }
    func knownNames(in directory: ScratchPlace.Directory) -> [[UInt8]] {
        ids.keys.filter { $0.directory == directory }.map(\.name)
    }
    func identity(of id: ScratchID) -> HostIdentity? { files[id]?.identity }
    func writer(of id: ScratchID) -> Int32? { files[id]?.writer }
    mutating func setWriter(_ program: Int32, of id: ScratchID) { files[id]?.writer = program }

    /// Returns a name of the file. Returns nil when it has lost all names.
    func place(of id: ScratchID) -> ScratchPlace? { files[id]?.places.first }

    /// Returns the file of a name, whose status the host has given.
    mutating func id(at place: ScratchPlace, is status: stat) -> ScratchID {
        let identity = HostIdentity(status)
        if let id = ids[place] {
            if files[id]?.identity == identity { return id }
            if files[id]?.identity == nil, identities[identity] == nil {
                learn(identity, of: id)
                return id
            }
            remove(place)
        }
        guard let id = identities[identity] else {
            let id = make()
            add(place, to: id)
            learn(identity, of: id)
            return id
        }
        if status.st_nlink == 1 || status.isDirectory {
            for old in files[id]?.places ?? [] { detach(old, from: id) }
        }
        add(place, to: id)
        return id
    }

    /// Notes the host's identity of a file that was reached by its id.
    mutating func learn(_ identity: HostIdentity, of id: ScratchID) {
        guard let file = files[id], file.identity == nil, identities[identity] == nil else {
            return
        }
        files[id]?.identity = identity
        identities[identity] = id
    }

    /// Notes that the host has another file under the name. The id stays the same.
    mutating func replaceHostFile(at place: ScratchPlace) {
        guard let id = ids[place], let identity = files[id]?.identity else { return }
        identities[identity] = nil
        files[id]?.identity = nil
    }

    /// Keeps the file when its names are removed, until `forget` or `letGo`.
    mutating func hold(_ id: ScratchID, by file: HostFile) {
        if files[id]?.held == nil { files[id]?.held = file }
    }

    /// Ends the holding for a change of names: the file is found by its names again.
    mutating func letGo(_ id: ScratchID) {
        if files[id]?.places.isEmpty == false { files[id]?.held = nil }
    }

    mutating func move(_ place: ScratchPlace, to target: ScratchPlace) {
        remove(target)
        guard let id = ids[place] else { return }
        add(target, to: id)
        remove(place)
    }

    mutating func swap(_ place: ScratchPlace, _ other: ScratchPlace) {
        let (id, otherID) = (ids[place], ids[other])
        if let id { detach(place, from: id) }
        if let otherID { detach(other, from: otherID) }
        if let id { add(other, to: id) }
        if let otherID { add(place, to: otherID) }
    }

    /// Removes a name. A held file stays for its users, until `forget`.
    mutating func remove(_ place: ScratchPlace) {
        guard let id = ids[place] else { return }
        detach(place, from: id)
        if let file = files[id], file.places.isEmpty, file.held == nil { forget(id) }
    }

    mutating func forget(_ id: ScratchID) {
        guard let file = files.removeValue(forKey: id) else { return }
        for place in file.places {
            ids[place] = nil
            removeEntry(place)
        }
        if let identity = file.identity { identities[identity] = nil }
        forgetEntries(of: id)
    }

    /// Forgets the places in a directory that the kernel no longer knows, because nothing leads
    /// through it any more. A linked file in it may still be known by another name, and then has
    /// only that one.
    private mutating func forgetEntries(of directory: ScratchID) {
        for place in entries.removeValue(forKey: directory) ?? [] {
            guard let id = ids[place], let file = files[id],
                file.places.count > 1 || file.held != nil
            else { continue }
            ids[place] = nil
            files[id]?.places.remove(place)
        }
    }

    private mutating func make() -> ScratchID {
        defer { next += 1 }
        files[ScratchID(rawValue: next)] = File()
        return ScratchID(rawValue: next)
    }

    private mutating func add(_ place: ScratchPlace, to id: ScratchID) {
        files[id]?.places.insert(place)
        ids[place] = id
        if case .scratch(let directory) = place.directory {
            entries[directory, default: []].insert(place)
        }
    }

    private mutating func detach(_ place: ScratchPlace, from id: ScratchID) {
        ids[place] = nil
        files[id]?.places.remove(place)
        removeEntry(place)
    }

    private mutating func removeEntry(_ place: ScratchPlace) {
        guard case .scratch(let directory) = place.directory else { return }
        entries[directory]?.remove(place)
        if entries[directory]?.isEmpty == true { entries[directory] = nil }
    }

    /// Returns the route to a place. Returns nil when a part of the path has lost its name, and
    /// nothing holds it.
    func route(to place: ScratchPlace) -> ScratchRoute? {
        route(to: place.directory, [place.name])
    }

    func route(to directory: ScratchPlace.Directory) -> ScratchRoute? { route(to: directory, []) }

    func route(to id: ScratchID) -> ScratchRoute? { route(to: .scratch(id), []) }

    /// - Parameter names: the names after the directory, the last one first.
    private func route(to directory: ScratchPlace.Directory, _ names: [[UInt8]]) -> ScratchRoute? {
        var names = names
        var directory = directory
        while case .scratch(let id) = directory {
            guard let file = files[id] else { return nil }
            if let held = file.held {
                return ScratchRoute(base: held, path: Self.joined(names))
            }
            guard let place = file.places.first else { return nil }
            names.append(place.name)
            directory = place.directory
        }
        return ScratchRoute(base: nil, path: Self.joined(names + [directory.baseName]))
    }

    private static func joined(_ names: [[UInt8]]) -> [UInt8] {
        var path: [UInt8] = []
        path.reserveCapacity(names.reduce(0) { $0 + $1.count + 1 })
        for name in names.reversed() {
            if !path.isEmpty { path.append(UInt8(ascii: "/")) }
            path += name
        }
        return path
    }
}
