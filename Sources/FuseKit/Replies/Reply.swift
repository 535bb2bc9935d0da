import CFuse3
import Glibc

/// The right and the duty to answer one call: once, by `send` or `fail`, from any thread.
///
/// A reply that is dropped unanswered answers EIO. `send` returns false when the kernel no longer
/// wants the answer (the mount is gone). Then the things that the answer would have handed over,
/// such as a lookup count or an open handle, stay with the file system, because no forget or
/// release will follow.
package struct Reply<Kind>: ~Copyable, Sendable {
    let request: Request
    /// The largest number of bytes that the caller takes, for answers with a limit.
    package let size: Int

    init(_ raw: fuse_req_t, size: Int = 0) {
        request = Request(raw)
        self.size = size
    }

    /// The caller of the operation.
    package var caller: CallingProcess { request.caller }

    /// Indicates whether the caller has got a signal and waits only for this answer to handle it.
    package var isInterrupted: Bool { fuse_req_interrupted(request.peek()) != 0 }

    package consuming func fail(_ error: Errno) {
        fuse_reply_err(request.take(), error.rawValue)
    }
}

/// The kinds of answers. Each has its own `send`.
package enum ReplyKind {
    package enum Empty {}
    package enum Entry {}
    package enum Attributes {}
    package enum Link {}
    package enum Open {}
    package enum Create {}
    package enum Data {}
    package enum Write {}
    package enum Statistics {}
    package enum ExtendedAttribute {}
    package enum Seek {}
    package enum Poll {}
}

package typealias EmptyReply = Reply<ReplyKind.Empty>
package typealias EntryReply = Reply<ReplyKind.Entry>
package typealias AttributeReply = Reply<ReplyKind.Attributes>
package typealias LinkReply = Reply<ReplyKind.Link>
package typealias OpenReply = Reply<ReplyKind.Open>
package typealias CreateReply = Reply<ReplyKind.Create>
package typealias DataReply = Reply<ReplyKind.Data>
package typealias WriteReply = Reply<ReplyKind.Write>
package typealias StatisticsReply = Reply<ReplyKind.Statistics>
/// The reply of getxattr and listxattr.
package typealias ExtendedAttributeReply = Reply<ReplyKind.ExtendedAttribute>
package typealias SeekReply = Reply<ReplyKind.Seek>
package typealias PollReply = Reply<ReplyKind.Poll>

extension Reply where Kind == ReplyKind.Empty {
    package consuming func send() {
        fuse_reply_err(request.take(), 0)
    }
}

extension Reply where Kind == ReplyKind.Entry {
    @discardableResult
    package consuming func send(_ entry: LookupEntry) -> Bool {
        var parameters = fuse_entry_param()
        entry.fill(&parameters)
        return fuse_reply_entry(request.take(), &parameters) == 0
    }

    /// Answers that the name does not exist. The kernel may remember this for `timeout` seconds.
    package consuming func sendNegative(timeout: Double) {
        var parameters = fuse_entry_param()
        parameters.entry_timeout = timeout
        fuse_reply_entry(request.take(), &parameters)
    }
}

extension Reply where Kind == ReplyKind.Attributes {
    /// - Parameter timeout: the number of seconds for which the kernel may use the attributes.
    package consuming func send(_ attributes: FileAttributes, timeout: Double) {
        var status = stat()
        attributes.fill(&status)
        fuse_reply_attr(request.take(), &status, timeout)
    }
}

extension Reply where Kind == ReplyKind.Link {
    /// - Parameter target: the target without NUL, at most 4095 bytes.
    package consuming func send(_ target: [UInt8]) {
        // readlink's answer is plain data to the kernel, so the target needs no terminator.
        let raw = request.take()
        target.withUnsafeBytes { _ = sendBytes(raw, $0) }
    }
}

extension Reply where Kind == ReplyKind.Open {
    @discardableResult
    package consuming func send(_ opened: OpenedFile) -> Bool {
        var info = fuse_file_info()
        opened.fill(&info)
        return fuse_reply_open(request.take(), &info) == 0
    }
}

extension Reply where Kind == ReplyKind.Create {
    @discardableResult
    package consuming func send(_ entry: LookupEntry, _ opened: OpenedFile) -> Bool {
        var parameters = fuse_entry_param()
        entry.fill(&parameters)
        var info = fuse_file_info()
        opened.fill(&info)
        return fuse_reply_create(request.take(), &parameters, &info) == 0
    }
}

extension Reply where Kind == ReplyKind.Write {
    /// - Parameter count: the number of bytes taken. A number below the offered one is a short
    ///   write.
    package consuming func send(count: Int) {
        fuse_reply_write(request.take(), count)
    }
}

extension Reply where Kind == ReplyKind.Statistics {
    package consuming func send(_ statistics: FileSystemStatistics) {
        var status = statvfs()
        status.f_bsize = UInt(statistics.blockSize)
        status.f_frsize = UInt(statistics.blockSize)
        status.f_blocks = fsblkcnt_t(statistics.blocks)
        status.f_bfree = fsblkcnt_t(statistics.freeBlocks)
        status.f_bavail = fsblkcnt_t(statistics.availableBlocks)
        status.f_files = fsfilcnt_t(statistics.files)
        status.f_ffree = fsfilcnt_t(statistics.freeFiles)
        status.f_favail = fsfilcnt_t(statistics.freeFiles)
        status.f_namemax = UInt(statistics.nameLength)
        fuse_reply_statfs(request.take(), &status)
    }
}

extension Reply where Kind == ReplyKind.ExtendedAttribute {
    /// Answers with the value, or for listxattr with the names, each with a NUL after it. A caller
    /// that asks with size 0 gets only the length. A caller with a buffer that is too small gets
    /// ERANGE.
    package consuming func send(_ bytes: [UInt8]) {
        let size = size
        if size == 0 {
            fuse_reply_xattr(request.take(), bytes.count)
        } else if bytes.count > size {
            fail(.ERANGE)
        } else {
            let raw = request.take()
            bytes.withUnsafeBytes { _ = sendBytes(raw, $0) }
        }
    }

    /// Answers with the names of all attributes of a node.
    package consuming func send(names: [FileName]) {
        var bytes: [UInt8] = []
        for name in names {
            bytes += name.bytes
            bytes.append(0)
        }
        send(bytes)
    }
}

extension Reply where Kind == ReplyKind.Seek {
    package consuming func send(offset: Int64) {
        fuse_reply_lseek(request.take(), off_t(offset))
    }
}

extension Reply where Kind == ReplyKind.Poll {
    /// - Parameter events: the events such as POLLIN that are true now.
    package consuming func send(events: UInt32) {
        fuse_reply_poll(request.take(), events)
    }
}

func sendBytes(_ request: fuse_req_t, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    fuse_reply_buf(
        request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
}

extension LookupEntry {
    func fill(_ parameters: inout fuse_entry_param) {
        parameters.ino = node.rawValue
        parameters.generation = generation
        parameters.entry_timeout = entryTimeout
        parameters.attr_timeout = attributeTimeout
        attributes.fill(&parameters.attr)
    }
}

extension OpenedFile {
    func fill(_ info: inout fuse_file_info) {
        info.fh = handle.rawValue
        info.keep_cache = keepCache ? 1 : 0
        info.direct_io = directIO ? 1 : 0
        info.cache_readdir = cacheReaddir ? 1 : 0
        info.noflush = noFlush ? 1 : 0
        info.nonseekable = nonSeekable ? 1 : 0
    }
}
