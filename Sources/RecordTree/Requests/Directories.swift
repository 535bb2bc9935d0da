import Glibc
import RecordModel
import RecordStore

/// Makes and removes directories, and makes symlinks and nodes.
final class Directories: Sendable {
    let control: ControlDirectory
    let controlRemoval: ControlRemoval
    let handleRequests: HandleRequests
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let opening: Opening
    let permissions: OwnPermissions
    let places: TypeDirectories
    let records: OpenRecords
    let refusedNames: RefusedNames
    let scratch: ScratchFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ recordRooms: RecordRooms,
        _ controlRooms: ControlRooms, _ namingRooms: NamingRooms, handleRequests: HandleRequests,
        opening: Opening
    ) {
        control = controlRooms.control
        controlRemoval = controlRooms.controlRemoval
        self.handleRequests = handleRequests
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        self.opening = opening
        permissions = ground.permissions
        places = ground.places
        records = recordRooms.records
        refusedNames = scratchRooms.refusedNames
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Makes a zone, a record type or a scratch directory, depending on the place of the name
    /// (mkdir).
    func makeDirectory(
        parent: NodeNumber, name: [UInt8], mode: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try permissions.checkWritable()
        try NameMeaning.checkLength(name)
        let directory = try nodes.node(parent)
        let made = try refusedNames.telling(name, in: directory) { () throws(RecordError) in
            try makeDirectory(name, in: directory, mode: mode, caller)
        }
        guard let entry = try nodeAttributes.entry(of: made) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return entry
    }

    private func makeDirectory(
        _ name: [UInt8], in directory: Node, mode: UInt32, _ caller: Requester
    ) throws(RecordError) -> Node {
        switch try naming.meaning(of: name, in: directory) {
        case .zone(let database, let owner, let zone):
            return .zone(try makeZone(database, owner, zone))
        case .type(let zone, let type): return .type(try makeType(zone, type))
        case .scratch(let place) where place.isOfShare:
            throw RecordError(.notPermitted, "a share is a regular file")
        case .scratch(let place):
            return .scratch(try scratch.makeDirectory(place, mode: mode, caller: caller))
        case .record, .asset:
            throw RecordError(.notPermitted, "a name like this is a file, not a directory")
        case .control(let path, let name): return try controlRemoval.makeDirectory(name, in: path)
        case .impossible: throw Self.badDirectoryName(name, in: directory)
        case .owner, .database, .fixed, .errorFile:
            throw RecordError(.notPermitted, "no directory can be made here")
        }
    }

    private static func badDirectoryName(_ name: [UInt8], in parent: Node) -> RecordError {
        switch parent {
        case .zone:
            RecordError(
                .invalidName,
                "a record type is a letter followed by letters, digits and underscores"
                    + suggestion(typeName(like: name)))
        case .database(let database) where database != .shared:
            RecordError(
                .invalidName,
                "a zone's name spells special characters as %XX"
                    + suggestion(NameCodec.encode(name)))
        default: RecordError(.notPermitted, "no directory can be made here")
        }
    }

    private static func suggestion(_ name: [UInt8]) -> String {
        name.isEmpty ? "" : ": try \(String(decoding: name, as: UTF8.self))"
    }

    /// Returns the name with replacements for forbidden characters. The result is empty when
    /// nothing is left.
    private static func typeName(like name: [UInt8]) -> [UInt8] {
        let letters = name.map { byte in
            RecordTypeName(bytes: [UInt8(ascii: "a"), byte]).isValid ? byte : UInt8(ascii: "_")
        }
        guard letters.contains(where: { $0 != UInt8(ascii: "_") }) else { return [] }
        let type = RecordTypeName(bytes: letters)
        return type.isValid ? letters : [UInt8(ascii: "T"), UInt8(ascii: "_")] + letters
    }

    private func makeZone(_ database: Database, _ owner: OwnerName, _ name: ZoneName)
        throws(RecordError) -> ZoneID
    {
        guard database != .shared else {
            throw RecordError(.notPermitted, "zones under shared/ come from their owners")
        }
        guard name.isValid else {
            throw RecordError(
                .invalidName,
                "a zone's name is 1 to 255 bytes of UTF-8, without control characters")
        }
        return try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.makeZone(database, owner, name).id
        }
    }

    private func makeType(_ zone: ZoneID, _ name: RecordTypeName) throws(RecordError) -> TypeID {
        guard let info = try store.zone(zone) else {
            throw RecordError(.stale, "the zone is gone")
        }
        try permissions.checkWritable(info)
        try store.upkeep.finishRemovedTypes()
        return try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.makeType(zone, name).id
        }
    }

    /// Removes an empty zone, record type or scratch directory (rmdir).
    func removeDirectory(parent: NodeNumber, name: [UInt8]) throws(RecordError) {
        try permissions.checkWritable()
        let directory = try nodes.node(parent)
        if case .control(let path) = directory {
            return try controlRemoval.removeDirectory(name, in: path)
        }
        guard let target = try naming.find(name, in: directory) else {
            throw RecordError(.notFound, "no such directory")
        }
        switch target {
        case .scratch:
            // The file may have other names: only this name is removed.
            guard case .scratch(let place) = try naming.meaning(of: name, in: directory) else {
                return
            }
            try scratch.remove(place, isDirectory: true)
        case .type(let type):
            try permissions.checkWritable(type)
            try checkHasNoScratch(.type(type))
            guard records.pending(in: type).isEmpty else {
                throw RecordError(.notEmpty, "the directory is not empty")
            }
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.beginRemovingType(type)
            }
            places.forget(type)
        case .zone(let zone):
            if let info = try store.zone(zone) { try permissions.checkWritable(info) }
            try checkHasNoScratch(.zone(zone))
            try store.upkeep.finishRemovedTypes()
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.removeZone(zone)
            }
            try refusedNames.forgetRefusal(in: target)
            places.forget(in: zone)
        case .root, .database, .owner, .control:
            throw RecordError(.notPermitted, "this directory belongs to the mount")
        case .record, .asset, .errorFile, .readme, .share:
            throw RecordError(.notDirectory, "not a directory")
        }
    }

    /// Throws unless the directory has no local file, but for the reason of a refused name.
    private func checkHasNoScratch(_ directory: ScratchPlace.Directory) throws(RecordError) {
        guard try scratch.names(directory).allSatisfy({ $0 == NameMeaning.errorName }) else {
            throw RecordError(.notEmpty, "the directory is not empty")
        }
    }

    /// Makes a symlink; only scratch names can be one (symlink).
    func makeSymlink(
        parent: NodeNumber, name: [UInt8], target: [UInt8],
        caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try permissions.checkWritable()
        try NameMeaning.checkLength(name)
        guard case .scratch(let place) = try naming.meaning(of: name, in: try nodes.node(parent)),
            !place.isOfShare
        else {
            throw RecordError(.notPermitted, "a record or a directory of records is no symlink")
        }
        let id = try scratch.makeSymlink(place, target: target, caller: caller)
        guard let entry = try nodeAttributes.entry(of: .scratch(id)) else {
            throw RecordError(.stale, "the symlink is gone")
        }
        return entry
    }

    func target(ofSymlink number: NodeNumber) throws(RecordError) -> [UInt8] {
        switch try nodes.node(number) {
        case .scratch(let id):
            return try scratch.file(id).target()
        case .control(let path): return try control.symlinkTarget(path)
        default: throw RecordError(.invalidArgument, "not a symlink")
        }
    }

    /// Makes a file without opening it (mknod): a regular one, in scratch of any kind.
    func makeNode(
        parent: NodeNumber, name: [UInt8], mode: UInt32, device: UInt64 = 0, caller: Requester
    ) throws(RecordError) -> NodeEntry {
        let kind = mode & UInt32(S_IFMT)
        if kind == UInt32(S_IFREG) || kind == 0 {
            let (entry, opened) = try opening.create(
                parent: parent, name: name, mode: mode, flags: O_WRONLY | O_EXCL, caller: caller)
            handleRequests.release(opened.handle)
            return entry
        }
        try permissions.checkWritable()
        try NameMeaning.checkLength(name)
        guard case .scratch(let place) = try naming.meaning(of: name, in: try nodes.node(parent)),
            !place.isOfShare
        else {
            throw RecordError(.notPermitted, "a record is a regular file")
        }
        let id = try scratch.makeNode(place, mode: mode, device: device, caller: caller)
        guard let entry = try nodeAttributes.entry(of: .scratch(id)) else {
            throw RecordError(.stale, "the file is gone")
        }
        return entry
    }
}
