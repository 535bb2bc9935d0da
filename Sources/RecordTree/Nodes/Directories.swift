import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Makes a zone, a record type or a scratch directory, depending on the place of the name
    /// (mkdir).
    package func makeDirectory(
        parent: NodeNumber, name: [UInt8], mode: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try checkWritable()
        try checkLength(name)
        let directory = try node(parent)
        let made = try telling(name, in: directory) { () throws(RecordError) in
            try makeDirectory(name, in: directory, mode: mode, caller)
        }
        guard let entry = try entry(of: made) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return entry
    }

    private func makeDirectory(
        _ name: [UInt8], in directory: Node, mode: UInt32, _ caller: Requester
    ) throws(RecordError) -> Node {
        switch try meaning(of: name, in: directory) {
        case .zone(let database, let owner, let zone):
            return .zone(try makeZone(database, owner, zone))
        case .type(let zone, let type): return .type(try makeType(zone, type))
        case .scratch(let place) where place.isOfShare:
            throw RecordError(.notPermitted, "a share is a regular file")
        case .scratch(let place):
            return .scratch(try makeScratchDirectory(place, mode: mode, caller: caller))
        case .record, .asset:
            throw RecordError(.notPermitted, "a name like this is a file, not a directory")
        case .control(let path, let name): return try makeControlDirectory(name, in: path)
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
        case .database, .owner:
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
            throw RecordError(.invalidName, "a zone's name has 1 to 255 bytes and no leading _")
        }
        return try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.makeZone(database, owner, name).id
        }
    }

    private func makeType(_ zone: ZoneID, _ name: RecordTypeName) throws(RecordError) -> TypeID {
        guard let info = try store.zone(zone) else {
            throw RecordError(.stale, "the zone is gone")
        }
        try checkWritable(info)
        return try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.makeType(zone, name).id
        }
    }

    /// Removes an empty zone, record type or scratch directory (rmdir).
    package func removeDirectory(parent: NodeNumber, name: [UInt8]) throws(RecordError) {
        try checkWritable()
        let directory = try node(parent)
        if case .control(let path) = directory {
            return try removeControlDirectory(name, in: path)
        }
        guard let target = try find(name, in: directory) else {
            throw RecordError(.notFound, "no such directory")
        }
        switch target {
        case .scratch:
            // The file may have other names: only this name is removed.
            guard case .scratch(let place) = try meaning(of: name, in: directory) else { return }
            try removeScratch(place, isDirectory: true)
        case .type(let type):
            try checkWritable(type)
            try checkHasNoScratch(.type(type))
            let hasPending = state.withLock { $0.pending[type] != nil }
            if hasPending { throw RecordError(.notEmpty, "the directory is not empty") }
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.removeType(type)
            }
            state.withLock { $0.places[type] = nil }
        case .zone(let zone):
            if let info = try store.zone(zone) { try checkWritable(info) }
            try forgetRefusal(in: target)
            try checkHasNoScratch(.zone(zone))
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.removeZone(zone)
            }
            state.withLock { $0.places = $0.places.filter { $0.value.zone.id != zone } }
        case .root, .database, .owner, .control:
            throw RecordError(.notPermitted, "this directory belongs to the mount")
        case .record, .asset, .errorFile, .readme, .share:
            throw RecordError(.notDirectory, "not a directory")
        }
    }

    private func checkHasNoScratch(_ directory: ScratchPlace.Directory) throws(RecordError) {
        guard try scratchNames(directory).isEmpty else {
            throw RecordError(.notEmpty, "the directory is not empty")
        }
    }

    /// Makes a symlink; only scratch names can be one (symlink).
    package func makeSymlink(
        parent: NodeNumber, name: [UInt8], target: [UInt8],
        caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try checkWritable()
        try checkLength(name)
        guard case .scratch(let place) = try meaning(of: name, in: try node(parent)),
            !place.isOfShare
        else {
            throw RecordError(.notPermitted, "a record or a directory of records is no symlink")
        }
        let id = try makeScratchSymlink(place, target: target, caller: caller)
        guard let entry = try entry(of: .scratch(id)) else {
            throw RecordError(.stale, "the symlink is gone")
        }
        return entry
    }

    package func target(ofSymlink number: NodeNumber) throws(RecordError) -> [UInt8] {
        switch try node(number) {
        case .scratch(let id):
            return try scratchFile(id).target()
        case .control(let path): return try controlSymlink(path)
        default: throw RecordError(.invalidArgument, "not a symlink")
        }
    }

    /// Makes a file without opening it (mknod): a regular one, in scratch of any kind.
    package func makeNode(
        parent: NodeNumber, name: [UInt8], mode: UInt32, device: UInt64 = 0, caller: Requester
    ) throws(RecordError) -> NodeEntry {
        let kind = mode & UInt32(S_IFMT)
        if kind == UInt32(S_IFREG) || kind == 0 {
            let (entry, opened) = try create(
                parent: parent, name: name, mode: mode, flags: O_WRONLY | O_EXCL, caller: caller)
            release(opened.handle)
            return entry
        }
        try checkWritable()
        try checkLength(name)
        guard case .scratch(let place) = try meaning(of: name, in: try node(parent)),
            !place.isOfShare
        else {
            throw RecordError(.notPermitted, "a record is a regular file")
        }
        let id = try makeScratchNode(place, mode: mode, device: device, caller: caller)
        guard let entry = try entry(of: .scratch(id)) else {
            throw RecordError(.stale, "the file is gone")
        }
        return entry
    }
}
