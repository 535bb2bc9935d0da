import FuseKit
import RecordModel
import RecordTree
import Synchronization

extension RecordFileSystem {
    func open(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        let caller = Requester(reply.caller)
        do throws(RecordError) {
            let opened = try tree.open(NodeNumber(node), flags: flags.rawValue, caller: caller)
            if !reply.send(OpenedFile(opened)) { tree.release(opened.handle) }
        } catch {
            reply.fail(Errno(error))
        }
    }

    func create(
        parent: NodeID, name: FileName, mode: UInt32, flags: OpenFlags,
        reply: consuming CreateReply
    ) {
        let caller = Requester(reply.caller)
        do throws(RecordError) {
            let (entry, opened) = try tree.create(
                parent: NodeNumber(parent), name: name.bytes, mode: mode, flags: flags.rawValue,
                caller: caller)
            guard !reply.send(LookupEntry(entry), OpenedFile(opened)) else { return }
            tree.release(opened.handle)
            tree.forget(entry.node, count: 1)
        } catch {
            reply.fail(Errno(error))
        }
    }

    func read(node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DataReply) {
        do throws(RecordError) {
            let result = try tree.read(HandleNumber(handle), offset: offset, count: reply.size)
            answer(reply, result)
        } catch {
            reply.fail(Errno(error))
        }
    }

    private func answer(_ reply: consuming DataReply, _ result: ReadResult) {
        switch result {
        case .bytes(let bytes): reply.send(bytes)
        case .file(let file, let offset, _):
            withExtendedLifetime(file) {}
            let descriptor = file.descriptor
            reply.send(descriptor: descriptor, offset: offset)
            withExtendedLifetime(file) {}
        case .deferred(let start):
            wait(reply, start) { reply, result in
                if case .deferred = result { return reply.fail(Errno(.ioFailure)) }
                self.answer(reply, result)
            }
        }
    }

    /// Answers when the data that the call waits for has arrived. The wait occupies no worker
    /// thread.
    func wait<Answer>(
        _ reply: consuming Reply<Answer>, _ start: DeferredCall,
        then answer: @escaping @Sendable (consuming Reply<Answer>, ReadResult) -> Void
    ) {
        let wait = InterruptibleWait()
        let later = PendingReply(reply, onInterrupt: { wait.giveUp() })
        let caller = ServedCaller.current
        wait.begin(
            start { result in
                guard let reply = later.take() else { return }
                caller?.begin()
                defer { ServedCaller.end() }
                switch result {
                case .success(let result): answer(reply, result)
                case .failure(let error): reply.fail(Errno(error))
                }
            })
    }

    func write(
        node: NodeID, handle: FileHandle, offset: Int64, data: UnsafeRawBufferPointer,
        isWriteback: Bool, reply: consuming WriteReply
    ) {
        do throws(RecordError) {
            try tree.write(
                HandleNumber(handle), offset: offset, data: data, isWriteback: isWriteback)
            reply.send(count: data.count)
        } catch  where error.code == .unavailable {
            let (node, handle) = (NodeNumber(node), HandleNumber(handle))
            guard let missing = tree.missingBytes(of: node, handle: handle) else {
                return reply.fail(Errno(error))
            }
            let bytes = Array(data)
            wait(reply, missing) { [tree] reply, _ in
                do throws(RecordError) {
                    let written = bytes.withUnsafeBytes { data in
                        Result { () throws(RecordError) in
                            try tree.write(
                                handle, offset: offset, data: data, isWriteback: isWriteback)
                        }
                    }
                    try written.get()
                    reply.send(count: bytes.count)
                } catch {
                    reply.fail(Errno(error))
                }
            }
        } catch {
            reply.fail(Errno(error))
        }
    }

    func flush(
        node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply
    ) {
        let handle = HandleNumber(handle)
        if tree.mayAskServer(closing: handle) {
            return serverCalls.answer(reply) { [tree] () throws(RecordError) in
                try tree.flush(handle)
            }
        }
        do throws(RecordError) {
            try tree.flush(handle)
            reply.send()
        } catch {
            reply.fail(Errno(error))
        }
    }

    func fsync(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        do throws(RecordError) {
            try tree.synchronize(HandleNumber(handle), dataOnly: dataOnly)
            reply.send()
        } catch {
            reply.fail(Errno(error))
        }
    }

    func release(
        node: NodeID, handle: FileHandle, flags: OpenFlags, reply: consuming EmptyReply
    ) {
        tree.release(HandleNumber(handle))
        reply.send()
    }

    func fallocate(
        node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) {
        do throws(RecordError) {
            try tree.allocate(HandleNumber(handle), mode: mode, offset: offset, length: length)
            reply.send()
        } catch {
            reply.fail(Errno(error))
        }
    }

    func lseek(
        node: NodeID, handle: FileHandle, offset: Int64, whence: Int32, reply: consuming SeekReply
    ) {
        do throws(RecordError) {
            reply.send(
                offset: try tree.seek(HandleNumber(handle), offset: offset, whence: whence))
        } catch {
            reply.fail(Errno(error))
        }
    }

    func readdir(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) {
        var reply = reply
        do throws(RecordError) {
            try tree.list(HandleNumber(handle), from: UInt64(bitPattern: offset)) { listed in
                reply.add(
                    name: FileName(listed.name), inode: listed.entry.attributes.inode,
                    mode: listed.entry.attributes.mode, nextOffset: Int64(bitPattern: listed.next))
            }
            reply.send()
        } catch {
            reply.fail(Errno(error))
        }
    }

    func readdirplus(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) {
        var reply = reply
        var listed: [NodeEntry] = []
        do throws(RecordError) {
            try tree.list(HandleNumber(handle), from: UInt64(bitPattern: offset)) { item in
                let isTaken = reply.addPlus(
                    name: FileName(item.name), entry: LookupEntry(item.entry),
                    nextOffset: Int64(bitPattern: item.next))
                if isTaken {
                    tree.didList(item.entry)
                    listed.append(item.entry)
                }
                return isTaken
            }
            guard !reply.send() else { return }
            for entry in listed { tree.forget(entry.node, count: 1) }
        } catch {
            for entry in listed { tree.forget(entry.node, count: 1) }
            reply.fail(Errno(error))
        }
    }
}

/// The wait of a deferred read. A signal of its reader ends it, even a signal before the wait has
/// begun.
private final class InterruptibleWait: Sendable {
    private enum State {
        case new
        case begun(Waiting)
        case over
    }
    private let state = Mutex(State.new)

    func begin(_ waiting: Waiting) {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .begun(waiting)
            return false
        }
        if isOver { waiting.giveUp() }
    }

    func giveUp() {
        let waiting = state.withLock { state -> Waiting? in
            defer { state = .over }
            if case .begun(let waiting) = state { return waiting }
            return nil
        }
        waiting?.giveUp()
    }
}
