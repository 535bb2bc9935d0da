import Glibc

/// A node of the file system as the kernel knows it, from the first lookup to the last forget.
package struct NodeID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The directory at the mount point.
    package static var root: NodeID { NodeID(1) }
}

/// An open file or directory: chosen by the file system in its open reply, given back by the
/// kernel with every operation on that open until release.
package struct FileHandle: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// One component of a path, as the bytes that the caller used: neither empty nor with a slash or
/// NUL, at most 1024 bytes (the kernel's limit; a file system may refuse shorter ones).
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

    /// For messages only: invalid UTF-8 is shown as replacement characters.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// Who made a call. All zero for calls that the kernel makes for itself, such as writing back a
/// shared mapping.
package struct Caller: Hashable, Sendable {
    package let uid: UInt32
    package let gid: UInt32
    /// The thread of the caller, which is the process for a single-threaded one.
    package let pid: Int32
    package let umask: UInt32

    package init(uid: UInt32, gid: UInt32, pid: Int32, umask: UInt32 = 0) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.umask = umask
    }
}
