import CLinux
import Glibc
import RecordModel
import RecordStore

/// SEEK_HOLE of <unistd.h>, which Swift's Glibc module leaves out without _GNU_SOURCE.
private let seekHole: Int32 = 4

/// Reads, writes, saves and closes open files.
final class HandleRequests: Sendable {
    let assetFiles: AssetNodes
    let assetSaving: AssetSaving
    let commands: ControlCommands
    let controlFiles: ControlFiles
    let errors: ErrorReports
    let events: EventLog
    let finalDeletes: FinalDeletes
    let handles: OpenHandles
    let kept: KeptContents
    let kernel: KernelNotifier
    let nodes: Nodes
    let permissions: OwnPermissions
    let recordFiles: RecordFiles
    let saving: RecordSaving
    let scratch: ScratchFiles
    let shareSaving: ShareSaving
    let shareStates: ShareStates
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ renamingRooms: RenamingRooms
    ) {
        assetFiles = assetRooms.assetFiles
        assetSaving = assetRooms.assetSaving
        commands = controlRooms.commands
        controlFiles = controlRooms.controlFiles
        errors = ground.errors
        events = ground.events
        finalDeletes = renamingRooms.finalDeletes
        handles = ground.handles
        kept = controlRooms.kept
        kernel = ground.kernel
        nodes = ground.nodes
        permissions = ground.permissions
        recordFiles = recordRooms.recordFiles
        saving = recordRooms.saving
        scratch = scratchRooms.scratch
        shareSaving = shareRooms.shareSaving
        shareStates = shareRooms.shareStates
        shares = shareRooms.shares
        store = ground.store
    }

    func read(_ number: HandleNumber, offset: Int64, count: Int) throws(RecordError)
        -> ReadResult
    {
        switch try handles.find(number).current {
        case .record(let open):
            return .bytes(try recordFiles.read(open, offset: offset, count: count))
        case .scratch(let file, _): return .file(file, offset: offset, count: count)
        case .generated(let path, let content):
            if content.isOfOthers { try controlFiles.checkIsThere(path) }
            return content.read(offset: offset, count: count)
        case .asset(let open): return try assetFiles.read(open, offset: offset, count: count)
        case .bytes(let bytes):
            return .bytes(bytes.bytes(at: offset, count: count))
        case .errors(let type, let bytes):
            try errors.checkHasErrors(type)
            return .bytes(bytes.bytes(at: offset, count: count))
        case .share(let file, let bytes):
            try shares.checkIsShared(file)
            return .bytes(bytes.bytes(at: offset, count: count))
        case .events(let cursor): return events.read(cursor, count: count)
        case .command(let buffer):
            switch buffer.target {
            case .share(let file): try shares.checkIsShared(file)
            case .control(let path): if buffer.isOfOthers { try controlFiles.checkIsThere(path) }
            }
            return .bytes(buffer.read(offset: offset, count: count))
        case .directory: throw RecordError(.isDirectory, "a directory")
        }
    }

    func write(
        _ number: HandleNumber, offset: Int64, data: UnsafeRawBufferPointer, isWriteback: Bool
    ) throws(RecordError) {
        let handle = try handles.find(number)
        guard handle.canWrite else {
            throw RecordError(.system, "the file is open for reading only", errno: EBADF)
        }
        // Pages of a shared mapping have their own offset, with any handle.
        let appends = handle.appends && !isWriteback
        switch handle.current {
        case .record(let open):
            try droppingPages(of: .record(open.file), isWriteback) { () throws(RecordError) in
                try recordFiles.checkStillWritable(open)
            }
            try recordFiles.write(data, offset: appends ? nil : offset, to: open)
        case .scratch(let file, let id):
            let end = appends ? Int64(try file.status.st_size) : offset
            try scratch.write(data, offset: end, to: file, id)
            // The file has become a field's file in the meantime. The field may have only the bytes
            // from before this write.
            if case .asset(let open) = handle.current {
                try assetFiles.write(data, offset: end, to: open)
            }
        case .asset(let open):
            try droppingPages(of: .asset(open.id), isWriteback) { () throws(RecordError) in
                try permissions.checkWritable(open.place.record, in: open.type)
            }
            let end = appends ? open.shown.size : offset
            try assetFiles.write(data, offset: appends ? nil : offset, to: open)
            if case .scratch(let file, let id) = handle.current {
                try scratch.write(data, offset: end, to: file, id)
            }
        case .command(let buffer) where buffer.target == .control(.ctl):
            try commands.runCommands(data)
        case .command(let buffer):
            try buffer.write(data, offset: appends ? buffer.size : offset)
        case .generated, .bytes, .errors, .share, .events:
            throw RecordError(.notPermitted, "the file is generated")
        case .directory: throw RecordError(.isDirectory, "a directory")
        }
    }

    /// Drops the pages of a shared mapping that a program may no longer write. Otherwise other
    /// programs on this machine would read the change, because the kernel keeps refused pages.
    private func droppingPages(
        of node: Node, _ isWriteback: Bool, _ check: () throws(RecordError) -> Void
    ) throws(RecordError) {
        do throws(RecordError) {
            try check()
        } catch {
            let number = isWriteback ? nodes.number(of: node) : nil
            if let number { kernel.notify([.content(number)]) }
            throw error
        }
    }

    /// Saves a file when a descriptor is closed (flush), and throws the errors of the save.
    func flush(_ number: HandleNumber) throws(RecordError) {
        let handle = try handles.find(number)
        guard handle.canWrite else { return }
        switch handle.current {
        case .record(let open):
            try open.checkIsWhole()
            try saving.save(open, isLast: false)
            if let refusal = open.takeUntold() { throw refusal }
        case .asset(let open): try assetSaving.save(open, isLast: false)
        case .command(let buffer): try commands.run(buffer)
        case .scratch(let file, let id): try shareSaving.submit(handle, file, id)
        case .generated, .bytes, .errors, .share, .events, .directory: return
        }
    }

    /// Puts written data on stable storage (fsync). Invalid content does not fail here: it is on
    /// stable storage as a draft, and close reports the fault.
    func synchronize(_ number: HandleNumber, dataOnly: Bool) throws(RecordError) {
        let handle = try handles.find(number)
        switch handle.current {
        case .record(let open):
            try open.checkIsWhole()
            do throws(RecordError) {
                try saving.save(open, isLast: false)
            } catch  where error.isAboutContent {
                open.keepUntold(error)
            }
            try synchronizeStore()
        case .asset(let open):
            try assetSaving.save(open, isLast: false)
            try synchronizeStore()
        case .scratch(let file, _): try file.synchronize(dataOnly: dataOnly)
        case .generated, .bytes, .errors, .share, .events, .command, .directory: return
        }
    }

    private func synchronizeStore() throws(RecordError) {
        Failpoint.pass(.syncBegin)
        try store.sync()
        Failpoint.pass(.syncDone)
    }

    /// Puts the directory on stable storage (fsyncdir): its waiting deletes become final.
    func synchronizeDirectory(_ number: NodeNumber) throws(RecordError) {
        guard case .type = try nodes.node(number) else { return }
        try finalDeletes.finish(olderThan: .zero)
        try store.sync()
    }

    /// Ends a handle after its last descriptor was closed (release). No caller receives an error.
    func release(_ number: HandleNumber) {
        guard let handle = handles.remove(number) else {
            return
        }
        switch handle.release() {
        case .record(let open): saving.close(open, writes: handle.canWrite)
        case .asset(let open): assetFiles.close(open, writes: handle.canWrite)
        case .events(let cursor): events.close(cursor)
        case .generated(let path, _): kept.close(path)
        case .scratch: shareStates.forgetTry(by: number)
        case .bytes, .errors, .share, .command, .directory: return
        }
    }

    func seek(_ number: HandleNumber, offset: Int64, whence: Int32) throws(RecordError)
        -> Int64
    {
        let handle = try handles.find(number)
        if case .scratch(let file, _) = handle.current {
            let found = lseek(file.descriptor, off_t(offset), whence)
            guard found >= 0 else { throw .lastSystemError("lseek") }
            return Int64(found)
        }
        let size = try size(of: handle)
        guard offset >= 0, offset < size else {
            throw RecordError(.system, "no data there", errno: ENXIO)
        }
        return whence == seekHole ? size : offset
    }

    private func size(of handle: OpenHandle) throws(RecordError) -> Int64 {
        switch handle.current {
        case .record(let open):
            try recordFiles.load(open)
            return open.shown.size
        case .asset(let open): return open.shown.size
        case .bytes(let bytes), .errors(_, let bytes), .share(_, let bytes):
            return Int64(bytes.count)
        case .generated(_, let content): return content.size
        case .scratch(let file, _): return Int64(try file.status.st_size)
        case .command(let buffer): return buffer.size
        case .events, .directory: return 0
        }
    }

    func allocate(_ number: HandleNumber, mode: Int32, offset: Int64, length: Int64)
        throws(RecordError)
    {
        guard case .scratch(let file, _) = try handles.find(number).current else {
            throw RecordError(.unsupported, "space cannot be reserved in a record")
        }
        guard fallocate(file.descriptor, mode, off_t(offset), off_t(length)) == 0 else {
            throw .lastSystemError("fallocate")
        }
    }
}
