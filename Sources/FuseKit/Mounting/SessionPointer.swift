import CFuse3
import Glibc
import Synchronization

/// A libfuse session. It is made, used by several threads, and destroyed once by its `Session`.
struct SessionPointer: @unchecked Sendable {
    // @unchecked: libfuse's sessions are made to be used by several threads.
    let raw: OpaquePointer

    init(box: FileSystemBox, options: MountOptions) throws(MountError) {
        let strings = ["fusekit", "-o", options.argument]
        var words: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer { for word in words { free(word) } }
        var operations = makeOperations()
        // The box is not retained here: its Session owns it and destroys this session first.
        let context = Unmanaged.passUnretained(box).toOpaque()
        let raw = words.withUnsafeMutableBufferPointer { buffer in
            var arguments = fuse_args(
                argc: Int32(buffer.count), argv: buffer.baseAddress, allocated: 0)
            defer { fuse_opt_free_args(&arguments) }
            return fuse_session_new(
                &arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, context)
        }
        guard let raw else {
            throw MountError(
                .failed, "a mount option is not known to libfuse: \(options.argument)")
        }
        self.raw = raw
    }

    /// Tells whether a call waits to be read, or the connection has ended. Never blocks.
    func hasCall() -> Bool {
        var descriptor = pollfd(
            fd: fuse_session_fd(raw), events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) != 0
    }

    /// Calls the file system's destroy when the kernel has not done so, ends the connection and
    /// frees the memory.
    ///
    /// Remaining users get ENOTCONN. Does not unmount: libfuse would unmount any file system that
    /// now has the name.
    func destroy() { fuse_session_destroy(raw) }
}

/// Carries the file system through libfuse's user data.
final class FileSystemBox: Sendable {
    let fileSystem: any FileSystem
    /// Indicates whether the next answer is the one to INIT and must contain more than libfuse puts
    /// into it.
    let answersInit = Atomic<Bool>(false)

    init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }
}
