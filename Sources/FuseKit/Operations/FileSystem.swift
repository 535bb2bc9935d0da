/// A file system in the view of the kernel: one method for each operation.
///
/// Methods are called from the session's reading threads, several at a time. Each method must
/// answer its reply or pass it on to code that will answer it; operations without an implementation
/// answer ENOSYS. A method that waits blocks the thread that reads further calls. Therefore an
/// operation that takes long keeps the reply (see `PendingReply`) and returns. No method may call
/// into its own mount.
package protocol FileSystem: AnyObject, Sendable {
    /// Called once when the mount begins, before any other method. It may change the wanted
    /// capabilities. Here `connection.wanted` holds the session's defaults, readdirplus included: a
    /// file system that does not implement `readdirplus` removes it.
    func initialize(_ connection: inout Connection)
    /// Called once after the last call. Replies that were kept must be answered before it returns.
    func destroy()

    func lookup(parent: NodeID, name: FileName, reply: consuming EntryReply)
    /// Notes that the kernel drops `count` lookups of the node. At zero the kernel no longer knows
    /// the node. Has no answer.
    func forget(node: NodeID, count: UInt64)
    func getattr(node: NodeID, handle: FileHandle?, reply: consuming AttributeReply)
    func setattr(
        node: NodeID, changes: AttributeChanges, handle: FileHandle?,
        reply: consuming AttributeReply)
    func access(node: NodeID, mask: Int32, reply: consuming EmptyReply)

    func readlink(node: NodeID, reply: consuming LinkReply)
    func symlink(
        target: [UInt8], parent: NodeID, name: FileName, reply: consuming EntryReply)
    func link(node: NodeID, newParent: NodeID, newName: FileName, reply: consuming EntryReply)
    /// Makes a file. The umask is already applied to `mode`, here and in mkdir and create.
    func mknod(
        parent: NodeID, name: FileName, mode: UInt32, device: UInt64, reply: consuming EntryReply)
    func mkdir(parent: NodeID, name: FileName, mode: UInt32, reply: consuming EntryReply)
    func unlink(parent: NodeID, name: FileName, reply: consuming EmptyReply)
    func rmdir(parent: NodeID, name: FileName, reply: consuming EmptyReply)
    func rename(
        parent: NodeID, name: FileName, newParent: NodeID, newName: FileName, flags: RenameFlags,
        reply: consuming EmptyReply)

    func open(node: NodeID, flags: OpenFlags, reply: consuming OpenReply)
    func create(
        parent: NodeID, name: FileName, mode: UInt32, flags: OpenFlags,
        reply: consuming CreateReply)
    /// Reads at most `reply.size` bytes from `offset` on.
    func read(node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DataReply)
    /// Writes bytes. `data` is valid during the call only.
    func write(
        node: NodeID, handle: FileHandle, offset: Int64, data: UnsafeRawBufferPointer,
        isWriteback: Bool, reply: consuming WriteReply)
    /// Called at each close of a descriptor of the handle, so any number of times.
    func flush(
        node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply)
    func fsync(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply)
    /// Called once for each handle, after its last close. No caller receives an error.
    func release(
        node: NodeID, handle: FileHandle, flags: OpenFlags, reply: consuming EmptyReply)
    func fallocate(
        node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply)
    /// Seeks for SEEK_DATA and SEEK_HOLE only; the kernel does the others itself.
    func lseek(
        node: NodeID, handle: FileHandle, offset: Int64, whence: Int32, reply: consuming SeekReply)
    /// - Parameter wakeup: to be notified once when the events change. Nil when nobody waits.
    func poll(
        node: NodeID, handle: FileHandle, events: UInt32, wakeup: PollHandle?,
        reply: consuming PollReply)

    func opendir(node: NodeID, flags: OpenFlags, reply: consuming OpenReply)
    func readdir(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply)
    func readdirplus(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply)
    func releasedir(node: NodeID, handle: FileHandle, reply: consuming EmptyReply)
    func fsyncdir(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply)

    func statfs(node: NodeID, reply: consuming StatisticsReply)
    /// Sets an attribute. `value` is valid during the call only.
    func setxattr(
        node: NodeID, name: FileName, value: UnsafeRawBufferPointer,
        flags: ExtendedAttributeFlags, reply: consuming EmptyReply)
    func getxattr(node: NodeID, name: FileName, reply: consuming ExtendedAttributeReply)
    func listxattr(node: NodeID, reply: consuming ExtendedAttributeReply)
    func removexattr(node: NodeID, name: FileName, reply: consuming EmptyReply)
}
