import Glibc
import RecordModel
import RecordTree
import TestSupport
import Testing

extension TreeFuzzer {
    enum Operation: CaseIterable {
        case lookup, walk, forget, getattr, times, size, mode
        case create, open, read, write, flush, synchronize, release, seek, allocate
        case makeDirectory, removeDirectory, makeSymlink, readSymlink, makeNode, remove, rename
        case openDirectory, list, synchronizeDirectory
        case attribute, attributeNames, setAttribute, removeAttribute
        case put, receive, passTime, wait
    }

    func perform(_ operation: Operation) throws(RecordError) {
        switch operation {
        case .lookup, .walk, .forget, .getattr, .times, .size, .mode, .readSymlink:
            try performOnNode(operation)
        case .create, .open, .read, .write, .flush, .synchronize, .release, .seek, .allocate:
            try performOnFile(operation)
        case .makeDirectory, .removeDirectory, .makeSymlink, .makeNode, .remove, .rename,
            .openDirectory, .list, .synchronizeDirectory:
            try performOnDirectory(operation)
        case .attribute, .attributeNames, .setAttribute, .removeAttribute:
            try performOnAttributes(operation)
        case .put: try put()
        case .receive: try receive()
        case .passTime: try passTime()
        case .wait: try wait()
        }
    }

    private func performOnNode(_ operation: Operation) throws(RecordError) {
        switch operation {
        case .lookup:
            let (parent, name, caller) = (directory(), random.name(), caller())
            if let entry = try tree.lookup(parent: parent, name: name, caller: caller) {
                found(entry)
            } else {
                _ = tree.canCacheAbsence(parent: parent, name: name, caller: caller)
            }
        case .walk: try walk()
        case .forget:
            tree.forget(anyNode(), count: UInt64(bitPattern: random.number()))
        case .getattr:
            let handle = random.chance(2) ? handle() : nil
            checkSize(try tree.attributes(of: anyNode(), handle: handle).0)
        case .readSymlink: _ = try tree.target(ofSymlink: anyNode())
        default: try setAttributes(operation)
        }
    }

    private func walk() throws(RecordError) {
        var node = NodeNumber.root
        for name in [Array(".recordfs".utf8)] + random.controlPath() {
            guard let entry = try tree.lookup(parent: node, name: name, caller: caller()) else {
                return
            }
            found(entry)
            node = entry.node
        }
    }

    private func setAttributes(_ operation: Operation) throws(RecordError) {
        var changes = NodeChanges()
        let node = anyNode()
        switch operation {
        case .times:
            changes.modified = time()
            changes.accessed = random.chance(2) ? time() : nil
        case .mode:
            changes.mode = UInt32(truncatingIfNeeded: random.number())
            if random.chance(4) { changes.owner = UInt32(truncatingIfNeeded: random.number()) }
        default: changes.size = size(for: node)
        }
        let handle = random.chance(3) ? handle() : nil
        note("setattr \(node) \(changes) \(String(describing: handle))")
        let (attributes, _) = try tree.setAttributes(of: node, changes, handle: handle)
        checkSize(attributes)
        guard let size = changes.size else { return }
        // A size that was taken is what the file has, while it has its name.
        let isRecord = node.rawValue >> 56 == 5 && attributes.links > 0
        if handle == nil, isRecord { #expect(attributes.size == size) }
        if size > Int64(Self.limits.textBytes) {
            changes.size = 0
            _ = try tree.setAttributes(of: node, changes, handle: handle)
        }
    }

    private func time() -> NodeChanges.Time {
        guard !random.chance(4) else { return .now }
        return .at(Timestamp(seconds: random.number(), nanoseconds: random.number()))
    }

    /// Files of the host take what the host takes; huge ones that it would take are left out.
    private func size(for node: NodeNumber) -> Int64 {
        node.rawValue >> 56 == 5 ? random.number() : random.hostNumber()
    }

    private func performOnFile(_ operation: Operation) throws(RecordError) {
        let flags = [
            O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND, O_WRONLY | O_EXCL,
            O_RDWR | O_CREAT | O_TRUNC, -1, Int32.min,
        ]
        switch operation {
        case .create:
            let (parent, name, flags) = (directory(), random.name(), random.pick(flags))
            note("create \(parent) \(String(decoding: name, as: UTF8.self)) \(flags)")
            let (entry, made) = try tree.create(
                parent: parent, name: name, mode: UInt32(random.below(0o10000)), flags: flags,
                caller: caller())
            note("is \(entry.node) \(made.handle)")
            found(entry)
            opened(made)
        case .open:
            let (node, flags) = (anyNode(), random.pick(flags))
            let made = try tree.open(node, flags: flags, caller: caller())
            note("open \(node) \(flags) is \(made.handle)")
            opened(made)
        case .read:
            try read(handle(), offset: random.number(), count: random.count())
        case .write: try write()
        case .flush: try tree.flush(handle())
        case .synchronize: try tree.synchronize(handle(), dataOnly: random.chance(2))
        case .release:
            guard !handles.isEmpty else { return }
            tree.release(handles.remove(at: random.below(handles.count)))
        case .seek:
            let whence = Int32(random.pick([0, 3, 4, 5, -1, Int(Int32.max)]))
            _ = try tree.seek(handle(), offset: random.number(), whence: whence)
        default:
            try tree.allocate(
                handle(), mode: Int32(random.pick([0, 1, 3, 8, -1])), offset: random.hostNumber(),
                length: random.hostNumber())
        }
    }

    private func read(_ handle: HandleNumber, offset: Int64, count: Int) throws(RecordError) {
        switch try tree.read(handle, offset: offset, count: count) {
        case .bytes(let bytes): #expect(bytes.count <= max(count, 0))
        case .file: break
        case .deferred(let start): waits.append(start { _ in })
        }
    }

    private func write() throws(RecordError) {
        let offset = random.chance(3) ? random.number() : Int64(random.below(200))
        let isLarge = offset > 1 << 20
        // A real file of the host would become as large as it is told.
        guard !isLarge || offset >= 1 << 62 else { return }
        let (handle, text) = (handle(), random.text())
        note("write \(handle) at \(offset): \(String(decoding: text, as: UTF8.self))")
        try bytes(text) { (data) throws(RecordError) in
            try tree.write(handle, offset: offset, data: data, isWriteback: random.chance(10))
        }
    }

    private func bytes(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(RecordError) -> Void
    ) throws(RecordError) {
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) { try body(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// What was saved and acknowledged is there.
    private func put() throws(RecordError) {
        let name = Array("\(random.pick(["a", "b", "c", "d"])).json".utf8)
        let text = random.goodText()
        let (entry, made) = try tree.create(
            parent: fixture.notes, name: name, mode: 0o644, flags: O_WRONLY | O_TRUNC,
            caller: TreeFixture.user)
        defer { tree.release(made.handle) }
        try bytes(text) { (data) throws(RecordError) in
            try tree.write(made.handle, offset: 0, data: data, isWriteback: false)
        }
        try tree.flush(made.handle)
        note(
            "put \(String(decoding: text, as: UTF8.self).prefix(30)) \(String(decoding: name, as: UTF8.self)) \(entry.node)"
        )
        found(entry)
        let reader = try tree.open(entry.node, flags: O_RDONLY, caller: TreeFixture.user)
        defer { tree.release(reader.handle) }
        guard case .bytes(let read) = try tree.read(reader.handle, offset: 0, count: 1 << 16)
        else { return }
        // Assets that came before their record are named in its text.
        #expect(read.starts(with: text.dropLast()), "an acknowledged save is not there")
    }
}
