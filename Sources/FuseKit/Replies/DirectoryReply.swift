import CFuse3
import Glibc

/// Answers readdir and readdirplus. Add entries until one does not fit, then send.
///
/// An answer without entries means the end of the directory. `nextOffset` is the cursor with which
/// the kernel requests the entries after that entry, also much later and in another read. It must
/// stay valid while other entries are added and removed, so an identifier is better than a
/// position.
package struct DirectoryReply: ~Copyable, Sendable {
    private let request: Request
    private let buffer: ReplyBuffer
    private var used = 0

    init(_ raw: fuse_req_t, size: Int) {
        request = Request(raw)
        buffer = ReplyBuffer(size: size)
    }

    package var caller: CallingProcess { request.caller }

    /// Adds an entry for readdir.
    /// - Parameter mode: the file type (`S_IFREG`, ...).
    /// - Returns: false when it did not fit.
    package mutating func add(
        name: FileName, inode: UInt64, mode: UInt32, nextOffset: Int64
    ) -> Bool {
        name.bytes.withUnsafeBytes {
            advance(
                by: recordfs_add_entry(
                    request.peek(), buffer.start + used, buffer.size - used, $0.baseAddress,
                    $0.count, inode, mode, off_t(nextOffset)))
        }
    }

    /// Adds an entry for readdirplus; each but "." and ".." counts as one lookup of its node.
    /// - Returns: false when it did not fit, and then it does not count.
    package mutating func addPlus(name: FileName, entry: LookupEntry, nextOffset: Int64) -> Bool {
        var parameters = fuse_entry_param()
        entry.fill(&parameters)
        return name.bytes.withUnsafeBytes {
            advance(
                by: recordfs_add_entry_plus(
                    request.peek(), buffer.start + used, buffer.size - used, $0.baseAddress,
                    $0.count, &parameters, off_t(nextOffset)))
        }
    }

    private mutating func advance(by length: Int) -> Bool {
        guard length > 0, length <= buffer.size - used else { return false }
        used += length
        return true
    }

    /// Sends the answer.
    /// - Returns: false when the kernel no longer wants it; then the lookups of addPlus do not
    ///   count.
    @discardableResult
    package consuming func send() -> Bool {
        let filled = UnsafeRawBufferPointer(start: buffer.start, count: used)
        return sendBytes(request.take(), filled) == 0
    }

    package consuming func fail(_ error: Errno) {
        fuse_reply_err(request.take(), error.rawValue)
    }
}

/// The memory of one directory answer.
private struct ReplyBuffer: ~Copyable, @unchecked Sendable {
    // @unchecked: owned by one reply, which is itself never shared.
    let start: UnsafeMutablePointer<CChar>
    let size: Int

    init(size: Int) {
        start = UnsafeMutablePointer<CChar>.allocate(capacity: max(size, 1))
        self.size = size
    }

    deinit { start.deallocate() }
}
