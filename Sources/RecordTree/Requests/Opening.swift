import Glibc
import RecordModel
import RecordStore

/// Opens and makes files.
final class Opening: Sendable {
    let access: NodePermissions
    let assetFiles: AssetNodes
    let assetRenames: AssetRenames
    let conflicts: Conflicts
    let controlFiles: ControlFiles
    let errors: ErrorReports
    let handles: OpenHandles
    let moves: FieldMoves
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let permissions: OwnPermissions
    let places: TypeDirectories
    let recordFiles: RecordFiles
    let records: OpenRecords
    let refusedNames: RefusedNames
    let scratch: ScratchFiles
    let shareEnding: ShareEnding
    let shares: ShareFiles
    let touches: Touches

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ namingRooms: NamingRooms, _ changeRooms: ChangeRooms, _ renamingRooms: RenamingRooms
    ) {
        access = namingRooms.access
        assetFiles = assetRooms.assetFiles
        assetRenames = renamingRooms.assetRenames
        conflicts = controlRooms.conflicts
        controlFiles = controlRooms.controlFiles
        errors = ground.errors
        handles = ground.handles
        moves = assetRooms.moves
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        permissions = ground.permissions
        places = ground.places
        recordFiles = recordRooms.recordFiles
        records = recordRooms.records
        refusedNames = scratchRooms.refusedNames
        scratch = scratchRooms.scratch
        shareEnding = shareRooms.shareEnding
        shares = shareRooms.shares
        touches = changeRooms.touches
    }

    /// Opens a file (open). This also does the work of O_TRUNC, because the kernel sends no setattr
    /// for it.
    func open(_ number: NodeNumber, flags: Int32, caller: Requester) throws(RecordError)
        -> Opened
    {
        let node = try nodes.node(number)
        let writes = flags & O_ACCMODE != O_RDONLY
        if touches.isOwn(caller) {
            return Opened(handle: handles.add(.bytes([]), flags: O_RDONLY), keepCache: true)
        }
        switch node {
        case .record(let file):
            if flags & O_TRUNC != 0 { try access.checkWritable(node) }
            let open = try recordFiles.open(file, writes: writes)
            records.noteProgram(caller, of: open, flags: flags)
            if flags & O_TRUNC != 0 { try recordFiles.empty(open, writes: writes) }
            let handle = handles.add(.record(open), flags: flags)
            return Opened(handle: handle, keepCache: true, needsNoFlush: !writes)
        case .asset(let id): return try assetFiles.open(id, flags: flags, caller: caller)
        case .scratch(let id):
            if writes { try permissions.checkWritable() }
            return try scratch.open(id, flags: flags, caller: caller)
        case .readme:
            try refuse(writing: writes, "README.md is generated")
            return Opened(handle: handles.add(.bytes(Readme.text), flags: flags), keepCache: true)
        case .errorFile(let type):
            try refuse(writing: writes, ".error is generated; a valid save clears it")
            let text = try errors.report(of: type)?.text ?? []
            let backing: OpenHandle.Backing =
                places.isOfOthers(try places.place(of: type).zone.id)
                ? .errors(type, text) : .bytes(text)
            return Opened(handle: handles.add(backing, flags: flags), isDirect: true)
        case .control(let path): return try controlFiles.open(path, flags: flags)
        case .share(let file): return try shares.open(file, flags: flags)
        case .root, .database, .owner, .zone, .type:
            throw RecordError(.isDirectory, "a directory")
        }
    }

    private func refuse(writing: Bool, _ message: String) throws(RecordError) {
        if writing { throw RecordError(.notPermitted, message) }
    }

    /// Makes a file and opens it (create), or opens a file that has got the name in the meantime.
    func create(
        parent: NodeNumber, name: [UInt8], mode: UInt32, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened) {
        let directory = try nodes.node(parent)
        if touches.isOwn(caller), let answer = try touches.adoptCreation(directory, name) {
            return answer
        }
        try permissions.checkWritable()
        try NameMeaning.checkLength(name)
        try assetRenames.takeBackEnding(name, in: directory)
        switch try naming.meaning(of: name, in: directory) {
        case .record(let type, let stem):
            return try createRecord(type, stem, flags: flags, caller: caller)
        case .asset(let file):
            try permissions.checkWritable(file.stem, in: file.type)
            try naming.fields.checkName(file)
            if let created = try assetFiles.create(file, flags: flags, caller: caller) {
                return created
            }
            // The field has got a file with another name in the meantime.
            return try scratch.create(file.scratchPlace, mode: mode, flags: flags, caller: caller)
        case .scratch(let place):
            if try !shareEnding.resume(at: place), let share = try shares.find(place) {
                guard flags & O_EXCL == 0 else {
                    throw RecordError(.alreadyExists, "it is shared already")
                }
                let opened = try shares.open(share, flags: flags)
                guard let entry = try nodeAttributes.entry(of: .share(share)) else {
                    throw .noSuchFile
                }
                return (entry, opened)
            }
            let (entry, opened) = try scratch.create(
                place, mode: mode, flags: flags, caller: caller)
            moves.noteBeside(place)
            return (entry.named(name, in: directory), opened)
        case .zone, .type, .owner, .database, .impossible:
            let refusal = RecordError(
                .notPermitted,
                "files belong into a TYPE directory: DATABASE/ZONE/TYPE/NAME.json")
            // Only a name that looks like a record is reported: editors try other names beside the
            // file that they write.
            guard name.suffix(5).elementsEqual(".json".utf8) else { throw refusal }
            return try refusedNames.telling(name, in: directory) { () throws(RecordError) in
                throw refusal
            }
        case .errorFile, .fixed, .control:
            if let made = try controlFiles.createMerge(name, in: directory, flags: flags) {
                return made
            }
            try conflicts.checkMerge(name, in: directory)
            throw RecordError(.notPermitted, "no file can be made here")
        }
    }

    private func createRecord(
        _ type: TypeID, _ stem: Stem, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened) {
        try permissions.checkWritable(type)
        if let file = try records.find(type, stem) {
            guard flags & O_EXCL == 0 else {
                throw RecordError(.alreadyExists, "\(stem).json is there already")
            }
            let open = try recordFiles.open(file, writes: true)
            records.noteProgram(caller, of: open, flags: flags)
            if flags & O_TRUNC != 0 { try recordFiles.empty(open, writes: true) }
            return try created(open, flags: flags)
        }
        let open = try recordFiles.make(type, stem)
        records.noteProgram(caller, of: open, flags: O_WRONLY)
        return try created(open, flags: flags)
    }

    private func created(_ open: OpenRecord, flags: Int32) throws(RecordError) -> (
        NodeEntry, Opened
    ) {
        guard let entry = try nodeAttributes.entry(of: .record(open.file)) else {
            throw RecordError(.stale, "the record is gone")
        }
        // The program that makes a file counts as a writer, even when it only reads: the empty text
        // needs an end.
        let handle = handles.add(.record(open), flags: flags | O_RDWR)
        return (entry, Opened(handle: handle, keepCache: true))
    }
}
