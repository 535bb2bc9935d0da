import CLinux
import Glibc
import RecordModel

/// The two ends of a rename, by the meaning of their names.
private enum RenameEnd {
    case record(TypeID, Stem)
    case asset(FieldFile)
    case scratch(ScratchPlace)
}

/// Renames files (renameat2), and links them.
final class Renaming: Sendable {
    let assetRenames: AssetRenames
    let conflicts: Conflicts
    let controlRemoval: ControlRemoval
    let moves: FieldMoves
    let naming: Naming
    let nodes: Nodes
    let permissions: OwnPermissions
    let recordRenames: RecordRenames
    let refusedNames: RefusedNames
    let scratch: ScratchFiles
    let shareDrafts: ShareDrafts
    let shareSaving: ShareSaving

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ shareRooms: ShareRooms, _ controlRooms: ControlRooms, _ namingRooms: NamingRooms,
        assetRenames: AssetRenames, recordRenames: RecordRenames
    ) {
        self.assetRenames = assetRenames
        conflicts = controlRooms.conflicts
        controlRemoval = controlRooms.controlRemoval
        moves = assetRooms.moves
        naming = namingRooms.naming
        nodes = ground.nodes
        permissions = ground.permissions
        self.recordRenames = recordRenames
        refusedNames = scratchRooms.refusedNames
        scratch = scratchRooms.scratch
        shareDrafts = shareRooms.shareDrafts
        shareSaving = shareRooms.shareSaving
    }

    /// Renames (renameat2). The identity of a record is its name: a file that takes a record's name
    /// updates the record, and a record that loses its name waits for its delete
    /// (MountContract, "Identity").
    func rename(
        parent: NodeNumber, name: [UInt8], newParent: NodeNumber, newName: [UInt8],
        flags: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) {
        try permissions.checkWritable()
        try NameMeaning.checkLength(newName)
        guard flags & ~(renameNoReplace | renameExchange) == 0 else {
            throw RecordError(.invalidArgument, "this kind of rename is not supported")
        }
        let (from, to) = (try nodes.node(parent), try nodes.node(newParent))
        if case .control(let path) = from {
            guard flags & renameExchange == 0 else {
                throw RecordError(.invalidArgument, "nothing is exchanged with .recordfs")
            }
            return try controlRemoval.restore(
                name, in: path, to: try naming.meaning(of: newName, in: to),
                replacing: flags & renameNoReplace == 0)
        }
        if conflicts.merged(by: newName, in: to) != nil {
            throw RecordError(.crossDevice, "the merge of a conflict is written; copy the file")
        }
        if case .control = to { throw RecordError.noMoveWithin }
        guard var source = try naming.find(name, in: from) else {
            throw .noSuchFile
        }
        if parent == newParent && name == newName { return }
        if flags & renameExchange == 0,
            try assetRenames.takeBackEnding(newName, in: to, for: source)
        {
            guard let found = try naming.find(name, in: from) else { throw .noSuchFile }
            source = found
        }
        guard let sourceEnd = try end(name, in: from), let targetEnd = try end(newName, in: to)
        else {
            try permissions.checkMayGo(source)
            try refusedNames.telling(name, in: from) { () throws(RecordError) in
                try permissions.checkIsNotShared(source)
            }
            throw RecordError(.crossDevice, "zones and record types are not renamed; copy them")
        }
        if flags & renameNoReplace != 0, try naming.find(newName, in: to) != nil {
            throw RecordError(.alreadyExists, "the new name is taken")
        }
        if flags & renameExchange != 0 {
            return try swap(sourceEnd, targetEnd, caller)
        }
        if case .asset(let id) = source, case .asset(let file) = sourceEnd,
            case .asset(let newFile) = NameMeaning.plain(of: newName, in: to),
            file.isSameField(as: newFile), !TemporaryName.isBesideField(newName)
        {
            return try assetRenames.renameEnding(id, to: newFile)
        }
        try move(source, sourceEnd, targetEnd, caller)
        // The draft of a share is gone, and so is the reason beside it.
        if case .scratch = source, case .scratch(let place) = sourceEnd, place.isOfShare {
            try shareDrafts.drop(place)
        }
    }

    /// Throws unless a local file may leave its directory, as for a removal.
    private func checkMayLeave(_ end: RenameEnd) throws(RecordError) {
        if case .scratch(let place) = end { try permissions.checkWritable(place.directory) }
    }

    private func end(_ name: [UInt8], in parent: Node) throws(RecordError) -> RenameEnd? {
        switch try naming.meaning(of: name, in: parent) {
        case .record(let type, let stem): .record(type, stem)
        case .asset(let file): .asset(file)
        case .scratch(let place): .scratch(place)
        case .zone, .type, .errorFile, .control, .database, .owner, .fixed, .impossible: nil
        }
    }

    private func move(
        _ source: Node, _ sourceEnd: RenameEnd, _ targetEnd: RenameEnd, _ caller: Requester
    ) throws(RecordError) {
        if case .share(let file) = source {
            guard case .scratch(let target) = targetEnd else {
                throw RecordError(.notPermitted, "a share is no record")
            }
            return try shareSaving.setAside(file, as: target)
        }
        try checkMayLeave(sourceEnd)
        switch (sourceEnd, targetEnd) {
        case (.scratch(let place), .scratch(let target)) where target.isOfShare:
            try shareSaving.saveScratch(place, asShare: target)
        case (.scratch(let place), .scratch(let target)):
            try scratch.move(place, to: target)
            moves.noteBeside(target)
        case (.scratch(let place), .record(let type, let stem)):
            try permissions.checkWritable(stem, in: type)
            try recordRenames.saveScratch(place, as: stem, in: type, caller)
        case (.scratch(let place), .asset(let file)):
            try permissions.checkWritable(file.stem, in: file.type)
            try naming.fields.checkName(file)
            try assetRenames.saveScratch(place, as: file, caller)
        case (.record(let type, let stem), .scratch(let target)):
            try permissions.checkWritable(stem, in: type)
            if case .record(let file) = source { try recordRenames.setAside(file, as: target) }
        case (.record(let type, let stem), .record(let newType, let newStem)):
            guard case .record(let file) = source else { return }
            if type == newType {
                try recordRenames.renameRecord(file, type, stem, to: newStem)
            } else {
                try recordRenames.moveRecord(file, type, stem, to: newType, newStem)
            }
        case (.asset(let file), .scratch(let target)):
            try permissions.checkWritable(file.stem, in: file.type)
            if case .asset(let id) = source { try assetRenames.setAside(id, as: target) }
            moves.noteBeside(target)
        case (.asset(let file), .asset(let newFile)):
            try permissions.checkWritable(file.stem, in: file.type)
            guard file.type == newFile.type else { throw RecordError.otherDirectory }
            try naming.fields.checkName(newFile)
            if case .asset(let id) = source { try assetRenames.renameAsset(id, to: newFile) }
        case (.record, .asset), (.asset, .record):
            throw RecordError(.crossDevice, "a record and an asset are not renamed to each other")
        }
    }

    private func swap(
        _ source: RenameEnd, _ target: RenameEnd, _ caller: Requester
    ) throws(RecordError) {
        for end in [source, target] {
            try checkMayLeave(end)
            if case .scratch(let place) = end, place.isOfShare {
                throw RecordError(.notPermitted, "the file of a share is exchanged with no other")
            }
        }
        switch (source, target) {
        case (.scratch(let place), .scratch(let other)):
            try scratch.swap(place, other)
        case (.scratch(let place), .record(let type, let stem)),
            (.record(let type, let stem), .scratch(let place)):
            try permissions.checkWritable(stem, in: type)
            try recordRenames.swap(place, with: stem, in: type, caller)
        case (.record(let type, let stem), .record(let otherType, let otherStem)):
            guard type == otherType else { throw RecordError.otherDirectory }
            try recordRenames.swap(stem, with: otherStem, in: type)
        case (.asset(let file), .asset(let other)):
            guard file.type == other.type else { throw RecordError.otherDirectory }
            try assetRenames.swap(file, with: other)
        case (.scratch(let place), .asset(let file)), (.asset(let file), .scratch(let place)):
            try assetRenames.swap(place, with: file, caller)
        case (.record, .asset), (.asset, .record):
            throw RecordError(
                .crossDevice, "a record and a large field are not renamed to each other")
        }
    }
}
