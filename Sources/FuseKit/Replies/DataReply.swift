import CFuse3

extension Reply where Kind == ReplyKind.Data {
    /// Answers a read: fewer bytes than asked for (`size`) mean the end of the file.
    package consuming func send(_ bytes: [UInt8]) {
        let (size, raw) = (size, request.take())
        bytes.withUnsafeBytes { _ = sendBytes(raw, $0.prefixed(size)) }
    }

    package consuming func send(_ bytes: ArraySlice<UInt8>) {
        let (size, raw) = (size, request.take())
        bytes.withUnsafeBytes { _ = sendBytes(raw, $0.prefixed(size)) }
    }

    package consuming func send(_ bytes: UnsafeRawBufferPointer) {
        let size = size
        _ = sendBytes(request.take(), bytes.prefixed(size))
    }

    /// Answers a read at `offset` of a file whose whole content is `content`.
    package consuming func send(_ content: [UInt8], from offset: Int64) {
        let start = min(max(0, Int(clamping: offset)), content.count)
        let end = min(content.count, start + size)
        let raw = request.take()
        content.withUnsafeBytes {
            _ = sendBytes(raw, UnsafeRawBufferPointer(rebasing: $0[start..<end]))
        }
    }

    /// Answers with up to `size` bytes of an open file from `offset` on. The bytes are spliced when
    /// that is faster. An error of the file becomes the caller's error.
    package consuming func send(descriptor: Int32, offset: Int64) {
        var vector = fuse_bufvec()
        vector.count = 1
        vector.buf.size = size
        vector.buf.flags = fuse_buf_flags(
            FUSE_BUF_IS_FD.rawValue | FUSE_BUF_FD_SEEK.rawValue | FUSE_BUF_FD_RETRY.rawValue)
        vector.buf.fd = descriptor
        vector.buf.pos = off_t(offset)
        fuse_reply_data(request.take(), &vector, fuse_buf_copy_flags(0))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func prefixed(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: prefix(count))
    }
}
