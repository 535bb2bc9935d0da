import FuseKit
import RecordModel
import RecordTree
import Synchronization

/// Turns requests of the kernel into calls of the tree, and errors of the tree into errno.
///
/// Every method answers its reply once: with the tree's value or with the errno of its error.
final class RecordFileSystem: FileSystem {
    let tree: Tree
    /// Called once, when the kernel has accepted the mount.
    private let ready: @Sendable () -> Void

    /// Indicates whether calls about extended attributes are answered. Otherwise each of them gets
    /// ENOSYS, because most programs ask for them at every file.
    private let hasExtendedAttributes: Bool

    let serverCalls = ServerCalls()

    init(tree: Tree, hasExtendedAttributes: Bool, ready: @escaping @Sendable () -> Void) {
        self.tree = tree
        self.hasExtendedAttributes = hasExtendedAttributes
        self.ready = ready
    }

    func initialize(_ connection: inout Connection) {
        // On a mount for the owner alone the host clears the bits of scratch files, because it sees
        // the same user.
        if tree.isForOwnerAlone { connection.wanted.insert(.handleKillPrivileges) }
        ready()
    }

    /// Answers the waiting calls. This is the last moment in which that is possible.
    func destroy() {
        tree.answerWaiting()
        serverCalls.stop()
    }

    func lookup(parent: NodeID, name: FileName, reply: consuming EntryReply) {
        let caller = Requester(reply.caller)
        do throws(RecordError) {
            let parent = NodeNumber(parent)
            if let entry = try tree.lookup(parent: parent, name: name.bytes, caller: caller) {
                sent(reply.send(LookupEntry(entry)), entry)
            } else {
                let isCacheable = tree.canCacheAbsence(
                    parent: parent, name: name.bytes, caller: caller)
                reply.sendNegative(timeout: isCacheable ? cacheSeconds : 0)
            }
        } catch {
            reply.fail(Errno(error))
        }
    }

    /// Takes back the lookup of a reply that did not reach the kernel.
    private func sent(_ isSent: Bool, _ entry: NodeEntry) {
        if !isSent { tree.forget(entry.node, count: 1) }
    }

    func forget(node: NodeID, count: UInt64) { tree.forget(NodeNumber(node), count: count) }

    func getattr(node: NodeID, handle: FileHandle?, reply: consuming AttributeReply) {
        do throws(RecordError) {
            let (attributes, isCacheable) = try tree.attributes(
                of: NodeNumber(node), handle: handle.map(HandleNumber.init))
            reply.send(
                FileAttributes(attributes), timeout: isCacheable ? attributes.keptSeconds : 0)
        } catch {
            reply.fail(Errno(error))
        }
    }

    func setattr(
        node: NodeID, changes: FuseKit.AttributeChanges, handle: FileHandle?,
        reply: consuming AttributeReply
    ) {
        if tree.isOwn(Requester(reply.caller)) {
            return getattr(node: node, handle: handle, reply: reply)
        }
        let (node, handle) = (NodeNumber(node), handle.map(HandleNumber.init))
        do throws(RecordError) {
            let answer = try tree.setAttributes(of: node, try NodeChanges(changes), handle: handle)
            reply.send(answer)
        } catch  where error.code == .unavailable {
            guard let missing = tree.missingBytes(of: node, handle: handle) else {
                return reply.fail(Errno(error))
            }
            wait(reply, missing) { [tree] reply, _ in
                do throws(RecordError) {
                    let changes = try NodeChanges(changes)
                    let answer = try tree.setAttributes(of: node, changes, handle: handle)
                    reply.send(answer)
                } catch {
                    reply.fail(Errno(error))
                }
            }
        } catch {
            reply.fail(Errno(error))
        }
    }

    func access(node: NodeID, mask: Int32, reply: consuming EmptyReply) {
        answer(reply) { tree throws(RecordError) in
            try tree.checkAccess(NodeNumber(node), mask: mask)
        }
    }

    func readlink(node: NodeID, reply: consuming LinkReply) {
        do throws(RecordError) {
            reply.send(try tree.target(ofSymlink: NodeNumber(node)))
        } catch {
            reply.fail(Errno(error))
        }
    }

    func symlink(
        target: [UInt8], parent: NodeID, name: FileName, reply: consuming EntryReply
    ) {
        let caller = Requester(reply.caller)
        answer(reply) { tree throws(RecordError) in
            try tree.makeSymlink(
                parent: NodeNumber(parent), name: name.bytes, target: target, caller: caller)
        }
    }

    func link(node: NodeID, newParent: NodeID, newName: FileName, reply: consuming EntryReply) {
        answer(reply) { tree throws(RecordError) in
            try tree.link(
                NodeNumber(node), newParent: NodeNumber(newParent), newName: newName.bytes)
        }
    }

    func mknod(
        parent: NodeID, name: FileName, mode: UInt32, device: UInt64, reply: consuming EntryReply
    ) {
        let caller = Requester(reply.caller)
        answer(reply) { tree throws(RecordError) in
            try tree.makeNode(
                parent: NodeNumber(parent), name: name.bytes, mode: mode, device: device,
                caller: caller)
        }
    }

    func mkdir(parent: NodeID, name: FileName, mode: UInt32, reply: consuming EntryReply) {
        let caller = Requester(reply.caller)
        answer(reply) { tree throws(RecordError) in
            try tree.makeDirectory(
                parent: NodeNumber(parent), name: name.bytes, mode: mode, caller: caller)
        }
    }

    private func answer(
        _ reply: consuming EntryReply,
        _ body: (Tree) throws(RecordError) -> NodeEntry
    ) {
        do throws(RecordError) {
            let entry = try body(tree)
            sent(reply.send(LookupEntry(entry)), entry)
        } catch {
            reply.fail(Errno(error))
        }
    }

    private func answer(
        _ reply: consuming EmptyReply,
        _ body: (Tree) throws(RecordError) -> Void
    ) {
        do throws(RecordError) {
            try body(tree)
            reply.send()
        } catch {
            reply.fail(Errno(error))
        }
    }

    func unlink(parent: NodeID, name: FileName, reply: consuming EmptyReply) {
        let caller = Requester(reply.caller)
        let parent = NodeNumber(parent)
        if tree.mayAskServer(about: name.bytes, in: parent) {
            return serverCalls.answer(reply) { [tree] () throws(RecordError) in
                try tree.remove(parent: parent, name: name.bytes, caller: caller)
            }
        }
        answer(reply) { tree throws(RecordError) in
            try tree.remove(parent: parent, name: name.bytes, caller: caller)
        }
    }

    func rmdir(parent: NodeID, name: FileName, reply: consuming EmptyReply) {
        answer(reply) { tree throws(RecordError) in
            try tree.removeDirectory(parent: NodeNumber(parent), name: name.bytes)
        }
    }

    func rename(
        parent: NodeID, name: FileName, newParent: NodeID, newName: FileName, flags: RenameFlags,
        reply: consuming EmptyReply
    ) {
        let caller = Requester(reply.caller)
        let (parent, newParent) = (NodeNumber(parent), NodeNumber(newParent))
        if tree.mayAskServer(about: newName.bytes, in: newParent) {
            return serverCalls.answer(reply) { [tree] () throws(RecordError) in
                try tree.rename(
                    parent: parent, name: name.bytes, newParent: newParent,
                    newName: newName.bytes, flags: flags.rawValue, caller: caller)
            }
        }
        answer(reply) { tree throws(RecordError) in
            try tree.rename(
                parent: parent, name: name.bytes, newParent: newParent,
                newName: newName.bytes, flags: flags.rawValue, caller: caller)
        }
    }

    func opendir(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        do throws(RecordError) {
            let opened = try tree.openDirectory(NodeNumber(node))
            var file = OpenedFile(opened)
            file.cacheReaddir = opened.keepCache
            if !reply.send(file) { tree.release(opened.handle) }
        } catch {
            reply.fail(Errno(error))
        }
    }

    func releasedir(node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        tree.release(HandleNumber(handle))
        reply.send()
    }

    func fsyncdir(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        answer(reply) { tree throws(RecordError) in
            try tree.synchronizeDirectory(NodeNumber(node))
        }
    }

    func statfs(node: NodeID, reply: consuming StatisticsReply) {
        do throws(RecordError) {
            let figures = try tree.figures(of: NodeNumber(node))
            var statistics = FileSystemStatistics()
            statistics.blockSize = figures.blockSize
            statistics.blocks = figures.blocks
            statistics.freeBlocks = figures.blocksFree
            statistics.availableBlocks = figures.blocksAvailable
            statistics.files = figures.files
            statistics.freeFiles = figures.filesFree
            statistics.nameLength = figures.nameLengthMax
            reply.send(statistics)
        } catch {
            reply.fail(Errno(error))
        }
    }

    func setxattr(
        node: NodeID, name: FileName, value: UnsafeRawBufferPointer,
        flags: ExtendedAttributeFlags, reply: consuming EmptyReply
    ) {
        guard hasExtendedAttributes else { return reply.fail(.ENOSYS) }
        let bytes = Array(value)
        answer(reply) { tree throws(RecordError) in
            try tree.setAttribute(
                name.bytes, of: NodeNumber(node), to: bytes, flags: flags.rawValue)
        }
    }

    func getxattr(node: NodeID, name: FileName, reply: consuming ExtendedAttributeReply) {
        guard hasExtendedAttributes else { return reply.fail(.ENOSYS) }
        do throws(RecordError) {
            reply.send(try tree.attribute(name.bytes, of: NodeNumber(node)))
        } catch {
            reply.fail(Errno(error))
        }
    }

    func listxattr(node: NodeID, reply: consuming ExtendedAttributeReply) {
        guard hasExtendedAttributes else { return reply.fail(.ENOSYS) }
        do throws(RecordError) {
            reply.send(names: try tree.attributeNames(of: NodeNumber(node)).map(FileName.init))
        } catch {
            reply.fail(Errno(error))
        }
    }

    func removexattr(node: NodeID, name: FileName, reply: consuming EmptyReply) {
        guard hasExtendedAttributes else { return reply.fail(.ENOSYS) }
        answer(reply) { tree throws(RecordError) in
            try tree.removeAttribute(name.bytes, of: NodeNumber(node))
        }
    }
}

extension AttributeReply {
    fileprivate consuming func send(_ answer: (attributes: Attributes, isCacheable: Bool)) {
        send(
            FileAttributes(answer.attributes),
            timeout: answer.isCacheable ? answer.attributes.keptSeconds : 0)
    }
}
