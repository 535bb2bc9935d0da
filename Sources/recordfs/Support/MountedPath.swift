import Glibc

/// Where a path of the system leads: symbolic links are followed up to the RecordFS mount that it
/// enters, and nothing is asked of that mount, which may hang.
struct MountedPath {
    /// Links that one path may have, as in the kernel.
    private static let linkLimit = 40

    /// Absolute and without `.`, `..` and links outside RecordFS mounts.
    let path: String
    /// The RecordFS mount that holds it.
    private(set) var mount: MountTable?

    /// - Parameter text: relative to the working directory when it does not begin with `/` or `~/`.
    init(_ text: String) {
        let mounts = MountTable.all()
        var rest = Self.components(Places.unresolved(text))
        var done: [String] = []
        var links = 0
        while let part = rest.popLast() {
            if part == ".." { _ = done.popLast() } else { done.append(part) }
            let place = "/" + done.joined(separator: "/")
            if let mount, mount.mountpoint != place, !place.hasPrefix(mount.mountpoint + "/") {
                // By `..` out of the mount, and perhaps into another one.
                self.mount = nil
            }
            // What is below a mount is the store's to say.
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

    /// The path from the root of the file system, as record paths are: empty for the root itself.
    var recordPath: String? {
        guard let mount else { return nil }
        let root = mount.root.split(separator: "/")
        let below = path.dropFirst(mount.mountpoint.count).split(separator: "/")
        return (root + below).joined(separator: "/")
    }

    /// The last component first.
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
