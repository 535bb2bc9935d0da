package import RecordModel
import RecordStore
import Synchronization

/// The meaning of a name in a directory, before a check whether it exists.
enum NameMeaning {
    case zone(Database, OwnerName, ZoneName)
    case type(ZoneID, RecordTypeName)
    case record(TypeID, Stem)
    case asset(FieldFile)
    case errorFile(TypeID)
    case scratch(ScratchPlace)
    case control(ControlPath, [UInt8])
    case database(Database)
    case owner(OwnerName)
    case fixed(Node)
    /// Nothing with this name can exist in the directory.
    case impossible
}

extension Tree {
    /// Finds a name (lookup). Returns nil when it does not exist; the kernel may remember that too.
    package func lookup(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError)
        -> NodeEntry?
    {
        let parent = try node(parent)
        if isOwn(caller), let answer = adoptingLookup(parent, name) {
            return answer.entry
        }
        guard name.count <= 255 else {
            throw RecordError(.nameTooLong, "a file name has at most 255 bytes")
        }
        guard let node = try find(name, in: parent), var entry = try entry(of: node) else {
            return nil
        }
        if isVolatile(name, in: parent) { entry.isCacheable = false }
        return entry
    }

    /// Returns whether the kernel must look up the name each time. The name of a list element means
    /// other bytes after any change of the list. The name of a share means a draft or the share,
    /// also after a change during which the kernel cannot be notified to forget the name.
    private func isVolatile(_ name: [UInt8], in parent: Node) -> Bool {
        if case .type = parent, case .asset(_, _, _?, _) = EntryName(classifying: name) {
            return true
        }
        return isShareName(name, in: parent)
    }

    /// Returns the entry of a node, with one lookup counted. Returns nil when the node has just
    /// disappeared.
    func entry(of node: Node) throws(RecordError) -> NodeEntry? {
        guard let attributes = try attributes(of: node) else { return nil }
        let number = state.withLock { $0.nodes.lookUp(node) }
        return NodeEntry(node: number, attributes: attributes, isCacheable: isCacheable(node))
    }

    /// Notes that the kernel has dropped lookups of a node (forget).
    package func forget(_ number: NodeNumber, count: UInt64) {
        state.withLock { state in
            if case .scratch(let id)? = state.nodes.forget(number, count: count) {
                state.scratch.forget(id)
                state.incompleteScratch[id] = nil
            }
        }
    }

    /// Returns whether the kernel may keep the answer "not found" for this name.
    ///
    /// A change that makes the name without a creating call of the kernel withdraws the answer by a
    /// notice. Such changes are a change from another machine, and a refused rename whose draft
    /// appears under the name. Any save of a record's text may make assets under many names, so
    /// their absence is not kept.
    package func canCacheAbsence(parent: NodeNumber, name: [UInt8], caller: Requester) -> Bool {
        // An arrived file is hidden only from the daemon's own touches, and not from others.
        guard !isOwn(caller), name != Self.errorName,
            let node = state.withLock({ $0.nodes.node(parent) })
        else { return false }
        if case .type = node, case .asset = EntryName(classifying: name) { return false }
        return isCacheable(node) && !isShareName(name, in: node)
    }

    static let errorName = Array(".error".utf8)
    static let controlName = Array(".recordfs".utf8)

    /// Returns the meaning of a name. Names beside a large field's file that are ordinary local
    /// files are distinguished from the name of the field.
    func meaning(of name: [UInt8], in parent: Node) throws(RecordError) -> NameMeaning {
        let meaning = plainMeaning(of: name, in: parent)
        guard case .asset(let field) = meaning else { return meaning }
        return try fieldFile(field).map { .asset($0) } ?? .scratch(field.scratchPlace)
    }

    /// Returns the meaning that the bytes of the name have.
    func plainMeaning(of name: [UInt8], in parent: Node) -> NameMeaning {
        // The kernel never asks for these names. In a path of the host they would lead to another
        // place.
        guard Self.isFileName(name) else { return .impossible }
        switch parent {
        case .root: return rootMeaning(of: name)
        case .database(let database):
            if name.first == UInt8(ascii: ".") {
                return .scratch(ScratchPlace(directory: .database(database), name: name))
            }
            if database == .shared {
                return OwnerName(fileName: name).map { .owner($0) } ?? .impossible
            }
            guard let decoded = NameCodec.decode(name) else { return .impossible }
            return .zone(database, .me, ZoneName(bytes: decoded))
        case .owner(let owner):
            guard let decoded = NameCodec.decode(name) else { return .impossible }
            return .zone(.shared, owner, ZoneName(bytes: decoded))
        case .zone(let zone):
            if name.first == UInt8(ascii: ".") {
                return .scratch(ScratchPlace(directory: .zone(zone), name: name))
            }
            let type = ZoneMapping.plain.typeName(ofDirectory: name)
            return type.map { .type(zone, $0) } ?? .impossible
        case .type(let type): return plainMeaning(of: name, in: type)
        case .scratch(let id):
            return .scratch(ScratchPlace(directory: .scratch(id), name: name))
        case .control(let path): return .control(path, name)
        case .readme, .record, .asset, .errorFile, .share: return .impossible
        }
    }

    private static func isFileName(_ name: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        return !name.isEmpty && name != [dot] && name != [dot, dot] && !name.contains(0)
            && !name.contains(UInt8(ascii: "/"))
    }

    /// Returns whether the name is `.Trash-UID`, where desktops and trash-put keep the files that
    /// they delete on a file system.
    private static func isTrashName(_ name: [UInt8]) -> Bool {
        let user = name.dropFirst(".Trash-".utf8.count)
        return name.starts(with: ".Trash-".utf8) && !user.isEmpty && user.count <= 10
            && user.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private func rootMeaning(of name: [UInt8]) -> NameMeaning {
        if name == Self.controlName { return .fixed(.control(.root)) }
        if name == Readme.name { return .fixed(.readme) }
        if Self.isTrashName(name) {
            return .scratch(ScratchPlace(directory: .root, name: name))
        }
        let database = Database(name: String(decoding: name, as: UTF8.self))
        return database.map { .database($0) } ?? .impossible
    }

    private func plainMeaning(of name: [UInt8], in type: TypeID) -> NameMeaning {
        if name == Self.errorName { return .errorFile(type) }
        switch EntryName(classifying: name) {
        case .record(let stem): return .record(type, stem)
        case .asset(let stem, let field, let index, let fileExtension):
            return .asset(
                FieldFile(
                    type: type, stem: stem, field: field, index: index,
                    fileExtension: fileExtension))
        case .scratch(let name):
            return .scratch(ScratchPlace(directory: .type(type), name: name))
        }
    }

    func find(_ name: [UInt8], in parent: Node) throws(RecordError) -> Node? {
        switch try meaning(of: name, in: parent) {
        case .fixed(let node): return node
        case .database(let database): return .database(database)
        case .owner(let owner):
            let known = try store.zones(in: .shared).contains { $0.owner == owner }
            return known ? .owner(owner) : nil
        case .zone(let database, let owner, let zone):
            return try store.zone(database, owner, zone).map { .zone($0.id) }
        case .type(let zone, let type): return try store.type(zone, type).map { .type($0.id) }
        case .record(let type, let stem): return try findRecord(type, stem).map { .record($0) }
        case .asset(let file): return file.entry.map { .asset($0.id) }
        case .errorFile(let type):
            return try errorReport(of: type) == nil ? nil : .errorFile(type)
        case .scratch(let place):
            if let id = try findScratch(place) { return .scratch(id) }
            return try findShare(place).map { .share($0) }
        case .control(let path, let name): return try findControl(name, in: path)
        case .impossible: return nil
        }
    }

    /// Returns the record that shows under the stem, also one that waits for its first save.
    func findRecord(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordFile? {
        if let file = state.withLock({ $0.pending[type]?[stem] }) { return file }
        guard let entry = try row(type, stem), !entry.isHidden else { return nil }
        return entry.file
    }

    /// Returns the row with the stem, also a hidden one. Returns nil without a query when the last
    /// lookup has found none.
    func row(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        let commits = store.commits
        let (isAbsent, epoch) = state.withLock {
            ($0.entries.isAbsent(type, stem, at: commits), $0.entries.epoch)
        }
        if isAbsent { return nil }
        guard let entry = try store.record(type, stem) else {
            state.withLock { $0.entries.keepAbsence(of: stem, in: type, readAt: commits) }
            return nil
        }
        if !entry.isHidden {
            state.withLock { $0.entries.keep(CollectionOfOne(entry), readAt: epoch) }
        }
        return entry
    }
}

extension RecordError {
    static var staleNode: RecordError {
        RecordError(.stale, "the file is gone; look its name up again")
    }
    static var noSuchFile: RecordError { RecordError(.notFound, "no such file") }
}
