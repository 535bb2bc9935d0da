package import Glibc
package import RecordModel

/// One end of a connection over the control socket. It closes when its last reference is released.
package final class ControlSocket: Sendable {
    package let descriptor: Int32

    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The user at the other end. It is nil when the system does not tell.
    package var peerUserID: uid_t? { peer?.user }

    /// The process at the other end. It is nil when the system does not tell.
    var peerProcess: pid_t? { peer?.process }

    private var peer: (process: pid_t, user: uid_t)? {
        // struct ucred is pid, uid, gid; Glibc's module does not export it.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(MemoryLayout<UInt32>.size * credentials.count)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == socklen_t(MemoryLayout<UInt32>.size * credentials.count)
        else { return nil }
        return (pid_t(bitPattern: credentials[0]), credentials[1])
    }

    /// Sets how long the socket waits for a peer that sends nothing, or that does not read. 0 means
    /// without limit.
    package func setTimeout(receivingSeconds: Int, sendingSeconds: Int) {
        let length = socklen_t(MemoryLayout<timeval>.size)
        var time = timeval(tv_sec: receivingSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
        time.tv_sec = sendingSeconds
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
    }

    /// Wakes every call that waits on this connection, at both ends.
    package func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    package func send(_ frame: ControlFrame) throws(RecordError) {
        try send(bytes: try frame.encoded())
    }

    package func send(bytes: [UInt8]) throws(RecordError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("The message could not be sent")
            }
            rest = count == rest.count ? [] : Array(rest[count...])
        }
    }

    /// Returns the next frame. Returns nil when the peer closed between two frames.
    ///
    /// Errors: `tooLarge`, `invalidJSON`, `invalidArgument` for a bad frame, `ioFailure`.
    package func receive() throws(RecordError) -> ControlFrame? {
        let prefix = try receive(count: ControlFrame.prefixLength)
        if prefix.isEmpty { return nil }
        let lengths = try ControlFrame.lengths(ofPrefix: prefix)
        let header = try receive(count: lengths.header)
        let body = try receive(count: lengths.body)
        guard header.count == lengths.header, body.count == lengths.body else {
            throw RecordError(.invalidArgument, "the message ends before its length.")
        }
        return ControlFrame(header: try JSONParser.parse(header), body: body)
    }

    /// Returns up to `count` bytes. There are fewer only when the peer closed.
    private func receive(count: Int) throws(RecordError) -> [UInt8] {
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(count, 256 << 10))
        while result.count < count {
            let wanted = min(chunk.count, count - result.count)
            let got = recv(descriptor, &chunk, wanted, 0)
            if got < 0 {
                if errno == EINTR { continue }
                throw failure("The message could not be read")
            }
            if got == 0 { break }
            result += chunk[0..<got]
        }
        return result
    }

    private func failure(_ what: String) -> RecordError {
        let code = errno
        if code == EAGAIN { return RecordError(.timedOut, "The other side does not answer.") }
        return RecordError(.ioFailure, "\(what): \(String(cString: strerror(code))).", errno: code)
    }
}
