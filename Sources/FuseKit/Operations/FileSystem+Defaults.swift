// An operation that a file system does not implement answers ENOSYS. The kernel remembers that for
// some operations (open, opendir, flush, fsync, access, xattrs, create, poll, ...) and does not ask
// again.
extension FileSystem {
    package func initialize(_ connection: inout Connection) {}
    package func destroy() {}
    package func lookup(parent: NodeID, name: FileName, reply: consuming EntryReply) {
        reply.fail(.ENOSYS)
    }
    package func forget(node: NodeID, count: UInt64) {}
    package func getattr(node: NodeID, handle: FileHandle?, reply: consuming AttributeReply) {
        reply.fail(.ENOSYS)
    }
    package func setattr(
        node: NodeID, changes: AttributeChanges, handle: FileHandle?,
        reply: consuming AttributeReply
    ) { reply.fail(.ENOSYS) }
    package func access(node: NodeID, mask: Int32, reply: consuming EmptyReply) {
        reply.fail(.ENOSYS)
    }
    package func readlink(node: NodeID, reply: consuming LinkReply) { reply.fail(.ENOSYS) }
    package func symlink(
        target: [UInt8], parent: NodeID, name: FileName, reply: consuming EntryReply
    ) { reply.fail(.ENOSYS) }
    package func link(
        node: NodeID, newParent: NodeID, newName: FileName, reply: consuming EntryReply
    ) { reply.fail(.ENOSYS) }
    package func mknod(
        parent: NodeID, name: FileName, mode: UInt32, device: UInt64, reply: consuming EntryReply
    ) { reply.fail(.ENOSYS) }
    package func mkdir(parent: NodeID, name: FileName, mode: UInt32, reply: consuming EntryReply) {
        reply.fail(.ENOSYS)
    }
    package func unlink(parent: NodeID, name: FileName, reply: consuming EmptyReply) {
        reply.fail(.ENOSYS)
    }
    package func rmdir(parent: NodeID, name: FileName, reply: consuming EmptyReply) {
        reply.fail(.ENOSYS)
    }
    package func rename(
        parent: NodeID, name: FileName, newParent: NodeID, newName: FileName, flags: RenameFlags,
        reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func open(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        reply.fail(.ENOSYS)
    }
    package func create(
        parent: NodeID, name: FileName, mode: UInt32, flags: OpenFlags, reply: consuming CreateReply
    ) { reply.fail(.ENOSYS) }
    package func read(node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DataReply) {
        reply.fail(.ENOSYS)
    }
    package func write(
        node: NodeID, handle: FileHandle, offset: Int64, data: UnsafeRawBufferPointer,
        isWriteback: Bool, reply: consuming WriteReply
    ) { reply.fail(.ENOSYS) }
    package func flush(
        node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func fsync(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func release(
        node: NodeID, handle: FileHandle, flags: OpenFlags, reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func fallocate(
        node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func lseek(
        node: NodeID, handle: FileHandle, offset: Int64, whence: Int32, reply: consuming SeekReply
    ) { reply.fail(.ENOSYS) }
    package func poll(
        node: NodeID, handle: FileHandle, events: UInt32, wakeup: PollHandle?,
        reply: consuming PollReply
    ) { reply.fail(.ENOSYS) }
    package func opendir(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        reply.fail(.ENOSYS)
    }
    package func readdir(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) { reply.fail(.ENOSYS) }
    package func readdirplus(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) { reply.fail(.ENOSYS) }
    package func releasedir(node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        reply.fail(.ENOSYS)
    }
    package func fsyncdir(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func statfs(node: NodeID, reply: consuming StatisticsReply) { reply.fail(.ENOSYS) }
    package func setxattr(
        node: NodeID, name: FileName, value: UnsafeRawBufferPointer, flags: ExtendedAttributeFlags,
        reply: consuming EmptyReply
    ) { reply.fail(.ENOSYS) }
    package func getxattr(node: NodeID, name: FileName, reply: consuming ExtendedAttributeReply) {
        reply.fail(.ENOSYS)
    }
    package func listxattr(node: NodeID, reply: consuming ExtendedAttributeReply) {
        reply.fail(.ENOSYS)
    }
    package func removexattr(node: NodeID, name: FileName, reply: consuming EmptyReply) {
        reply.fail(.ENOSYS)
    }
}
