import Glibc

/// A node of the file system in the view of the kernel, from the first lookup to the last forget.
package struct NodeID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The directory at the mount point.
    package static var root: NodeID { NodeID(1) }
}

/// An open file or directory. The file system chooses the value in its open reply. The kernel
/// passes it with every operation on that open until release.
package struct FileHandle: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// One component of a path, with the bytes that the caller used. It is not empty and contains no
/// slash and no NUL. It has at most 1024 bytes (the kernel's limit; a file system may have a lower
/// one).
package struct FileName: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ string: some StringProtocol) { self.bytes = Array(string.utf8) }

    init(cString: UnsafePointer<CChar>?) {
        guard let cString else {
            bytes = []
            return
        }
        bytes = Array(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// The name for messages only: invalid UTF-8 is shown as replacement characters.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// The caller of a request. All values are zero for calls that the kernel makes for itself, such as
/// writing back a shared mapping.
package struct CallingProcess: Hashable, Sendable {
    package let uid: UInt32
    package let gid: UInt32
    /// The thread of the caller. For a single-threaded caller this is the process.
    package let pid: Int32
    package let umask: UInt32

    package init(uid: UInt32, gid: UInt32, pid: Int32, umask: UInt32 = 0) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.umask = umask
    }
}
