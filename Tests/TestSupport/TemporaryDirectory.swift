import Glibc

/// A new folder that goes with this value, and all that is in it.
package final class TemporaryDirectory: Sendable {
    /// Whether new ones are in memory where they can be, for what makes many of them and has nothing to
    /// find out about disks.
    @TaskLocal package static var areInMemory = false

    package let path: String

    package init() throws {
        let memory = "/dev/shm"
        let base =
            Self.areInMemory && access(memory, W_OK) == 0
            ? memory : getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/recordfs-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TemporaryDirectoryError(errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        guard let stream = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            let child = "\(path)/\(name)"
            if Int(entry.pointee.d_type) == Int(DT_DIR) {
                remove(child)
            } else {
                unlink(child)
            }
        }
        closedir(stream)
        rmdir(path)
    }
}

package struct TemporaryDirectoryError: Error {
    package let errno: Int32
}
