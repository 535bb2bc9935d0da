import CLinux
import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    package func read(_ number: HandleNumber, offset: Int64, count: Int) throws(RecordError)
        -> ReadResult
    {
        switch try handle(number).current {
        case .record(let open): return .bytes(try read(open, offset: offset, count: count))
        case .scratch(let file, _): return .file(file, offset: offset, count: count)
        case .generated(let path, let content):
            if content.isOfOthers { try checkIsThere(path) }
            return content.read(offset: offset, count: count)
        case .asset(let open): return try open.read(offset: offset, count: count, in: self)
        case .bytes(let bytes):
            return .bytes(bytes.bytes(at: offset, count: count))
        case .errors(let type, let bytes):
            try checkHasErrors(type)
            return .bytes(bytes.bytes(at: offset, count: count))
        case .share(let file, let bytes):
            try checkIsShared(file)
            return .bytes(bytes.bytes(at: offset, count: count))
        case .events(let cursor): return events.read(cursor, count: count)
        case .command(let buffer):
            switch buffer.target {
            case .share(let file): try checkIsShared(file)
            case .control(let path): if buffer.isOfOthers { try checkIsThere(path) }
            }
            return .bytes(buffer.read(offset: offset, count: count))
        case .directory: throw RecordError(.isDirectory, "a directory")
        }
    }

    private func read(_ open: OpenRecord, offset: Int64, count: Int) throws(RecordError)
        -> [UInt8]
    {
        try open.checkIsShared()
        if let bytes = open.read(offset: offset, count: count) { return bytes }
        try load(open)
        return open.read(offset: offset, count: count) ?? []
    }

    /// Loads the text into memory, if it is not there yet.
    func load(_ open: OpenRecord) throws(RecordError) {
        guard let file = open.state.withLock({ $0.text == nil ? $0.file : nil }) else { return }
        let shown: (file: RecordFile, text: [UInt8])?
        do throws(RecordError) {
            shown = try store.shownText(of: file.record)
        } catch {
            let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
            noteFailure(.unread, "\(stem).json", in: type, error)
            throw error
        }
        if let shown, shown.file == file { return open.load(shown.text) }
        // The file was replaced in the meantime. Its text was kept before any program could see the
        // next one.
        guard open.state.withLock({ $0.text == nil }) else { return }
        throw RecordError(.stale, "the record is gone")
    }

    package func write(
        _ number: HandleNumber, offset: Int64, data: UnsafeRawBufferPointer, isWriteback: Bool
    ) throws(RecordError) {
        let handle = try handle(number)
        guard handle.canWrite else {
            throw RecordError(.system, "the file is open for reading only", errno: EBADF)
        }
        // Pages of a shared mapping have their own offset, with any handle.
        let appends = handle.appends && !isWriteback
        switch handle.current {
        case .record(let open):
            try droppingPages(of: .record(open.file), isWriteback) { () throws(RecordError) in
                try checkStillWritable(open)
            }
            try write(data, offset: appends ? nil : offset, to: open)
        case .scratch(let file, let id):
            let end = appends ? Int64(try file.status.st_size) : offset
            try write(data, offset: end, to: file, id)
            // The file has become a field's file in the meantime. The field may have only the bytes
            // from before this write.
            if case .asset(let open) = handle.current {
                try open.write(data, offset: end, in: self)
            }
        case .asset(let open):
            try droppingPages(of: .asset(open.id), isWriteback) { () throws(RecordError) in
                try checkWritable(open.place.record, in: open.type)
            }
            let end = appends ? open.shown.size : offset
            try open.write(data, offset: appends ? nil : offset, in: self)
            if case .scratch(let file, let id) = handle.current {
                try write(data, offset: end, to: file, id)
            }
        case .command(let buffer) where buffer.target == .control(.ctl): try runCommands(data)
        case .command(let buffer): try buffer.write(data, offset: offset)
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
            let number = isWriteback ? state.withLock { $0.nodes.number(of: node) } : nil
            if let number { notify([.content(number)]) }
            throw error
        }
    }

    private func write(
        _ data: UnsafeRawBufferPointer, offset: Int64?, to open: OpenRecord
    ) throws(RecordError) {
        do throws(RecordError) {
            try load(open)
            try open.write(
                data, offset: offset, limit: options.limits.textBytes, now: now,
                changed: store.nextChange())
        } catch {
            open.noteFailure(offset: offset, count: data.count, error)
            throw error
        }
    }

    private func write(
        _ data: UnsafeRawBufferPointer, offset: Int64, to file: HostFile, _ id: ScratchID
    ) throws(RecordError) {
        do throws(RecordError) {
            try file.write(data, offset: offset)
        } catch {
            state.withLock { state in
                state.incompleteScratch[id].note(
                    offset: offset, count: data.count, error)
            }
            throw error
        }
        state.withLock { state in
            guard !state.incompleteScratch.isEmpty else { return }
            state.incompleteScratch[id].noteWrite(offset: offset, count: data.count)
        }
    }

    /// Throws the failure of an incomplete local file that is about to become a record, a large
    /// field or a share: many programs continue with the rename after a failed write.
    func checkIsWhole(_ place: ScratchPlace) throws(RecordError) {
        let failure = state.withLock { state -> WriteFailure? in
            guard !state.incompleteScratch.isEmpty, let id = state.scratch.knownID(at: place) else {
                return nil
            }
            return state.incompleteScratch[id]
        }
        if let failure { throw failure.error }
    }

    func truncate(_ open: OpenRecord, to size: Int64) throws(RecordError) {
        try checkStillWritable(open)
        if size > 0 { try load(open) }
        try open.truncate(
            to: size, limit: options.limits.textBytes, now: now, changed: store.nextChange())
    }

    /// Saves a file when a descriptor is closed (flush), and throws the errors of the save.
    package func flush(_ number: HandleNumber) throws(RecordError) {
        let handle = try handle(number)
        guard handle.canWrite else { return }
        switch handle.current {
        case .record(let open):
            try open.checkIsWhole()
            try save(open, isLast: false)
            if let refusal = open.takeUntold() { throw refusal }
        case .asset(let open): try save(open, isLast: false)
        case .command(let buffer): try run(buffer)
        case .scratch(let file, let id): try submitShare(handle, file, id)
        case .generated, .bytes, .errors, .share, .events, .directory: return
        }
    }

    /// Puts written data on stable storage (fsync). Invalid content does not fail here: it is on
    /// stable storage as a draft, and close reports the fault.
    package func synchronize(_ number: HandleNumber, dataOnly: Bool) throws(RecordError) {
        let handle = try handle(number)
        switch handle.current {
        case .record(let open):
            try open.checkIsWhole()
            do throws(RecordError) {
                try save(open, isLast: false)
            } catch  where error.isAboutContent {
                open.state.withLock { $0.untold = error }
            }
            try synchronizeStore()
        case .asset(let open):
            try save(open, isLast: false)
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
    package func synchronizeDirectory(_ number: NodeNumber) throws(RecordError) {
        guard case .type = try node(number) else { return }
        try finalizeDeletes(olderThan: .zero)
        try store.sync()
    }

    /// Ends a handle after its last descriptor was closed (release). No caller receives an error.
    package func release(_ number: HandleNumber) {
        guard let handle = state.withLock({ $0.handles.removeValue(forKey: number) }) else {
            return
        }
        switch handle.current {
        case .record(let open): close(open, writes: handle.canWrite)
        case .asset(let open): close(open, writes: handle.canWrite)
        case .events(let cursor): events.close(cursor)
        case .generated(let path, _): state.withLock { $0.generated.close(path) }
        case .scratch: state.withLock { state in _ = state.triedShares.removeValue(forKey: number) }
        case .bytes, .errors, .share, .command, .directory: return
        }
    }

    package func seek(_ number: HandleNumber, offset: Int64, whence: Int32) throws(RecordError)
        -> Int64
    {
        let handle = try handle(number)
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
            try load(open)
            return Int64(open.state.withLock { $0.text?.count } ?? 0)
        case .asset(let open): return open.shown.size
        case .bytes(let bytes), .errors(_, let bytes), .share(_, let bytes):
            return Int64(bytes.count)
        case .generated(_, let content): return content.size
        case .scratch(let file, _): return Int64(try file.status.st_size)
        case .events, .command, .directory: return 0
        }
    }

    package func allocate(_ number: HandleNumber, mode: Int32, offset: Int64, length: Int64)
        throws(RecordError)
    {
        guard case .scratch(let file, _) = try handle(number).current else {
            throw RecordError(.unsupported, "space cannot be reserved in a record")
        }
        guard fallocate(file.descriptor, mode, off_t(offset), off_t(length)) == 0 else {
            throw .lastSystemError("fallocate")
        }
    }
}

/// SEEK_HOLE of <unistd.h>, which Swift's Glibc module leaves out without _GNU_SOURCE.
private let seekHole: Int32 = 4
