import Glibc
import RecordDaemon

/// The place to which a path of the system leads. Symbolic links are followed up to the RecordFS
/// mount that the path enters. No request is sent to that mount, because it may not answer.
struct MountedPath {
    /// The number of links that one path may have, as in the kernel.
    private static let linkLimit = 40

    /// The path, absolute and without `.`, `..` and links outside RecordFS mounts.
    let path: String
    /// The RecordFS mount that holds it.
    private(set) var mount: MountTable?

    /// Resolves a path.
    ///
    /// - Parameter text: relative to the working directory when it does not begin with `/` or `~/`.
    init(_ text: String) {
        let mounts = MountTable.all()
        var rest = Self.components(HostPaths.unresolved(text))
        var done: [String] = []
        var links = 0
        while let part = rest.popLast() {
            if part == ".." { _ = done.popLast() } else { done.append(part) }
            let place = "/" + done.joined(separator: "/")
            if let mount, mount.mountpoint != place, !place.hasPrefix(mount.mountpoint + "/") {
                // The path has left the mount by `..`, and may enter another one.
                self.mount = nil
            }
            // Only the store knows the part of the path below a mount.
            if mount != nil || part == ".." { continue }
            if let mount = mounts.last(where: { $0.mountpoint == place }), mount.isRecordFS {
                self.mount = mount
                continue
            }
            guard links < Self.linkLimit, let target = Self.target(ofLink: place) else { continue }
            links += 1
            if target.hasPrefix("/") { done = [] } else { done.removeLast() }
            rest += Self.components(target)
        }
        path = "/" + done.joined(separator: "/")
    }

    /// The path from the root of the file system, in the form of record paths. It is empty for the
    /// root itself.
    var recordPath: String? {
        guard let mount else { return nil }
        let root = mount.root.split(separator: "/")
        let below = path.dropFirst(mount.mountpoint.count).split(separator: "/")
        return (root + below).joined(separator: "/")
    }

    /// Returns the components, the last one first.
    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }

    private static func target(ofLink path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(
            decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
