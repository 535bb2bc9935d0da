import RecordControl
import RecordDaemon
import RecordModel

/// Spells record paths so that they can be used in the working directory: relative to it when it is
/// on a mount of the store, otherwise as record paths.
struct PathSpelling {
    private static let slash = UInt8(ascii: "/")

    /// The working directory and the root of its mount, as components of record paths.
    private let here: [[UInt8]]?
    private let root: [[UInt8]]

    init(for store: StoreAccess) {
        let place = HostPaths.hasWorkingDirectory ? MountedPath(".") : nil
        guard let mount = place?.mount, let path = place?.recordPath,
            HostDirectory.isSame(mount.source, store.directory)
        else {
            here = nil
            root = []
            return
        }
        here = Self.components(Array(path.utf8))
        root = Self.components(Array(mount.root.utf8))
    }

    func spell(_ path: [UInt8]) -> [UInt8] {
        let target = Self.components(path)
        // A bind mount may not show it.
        guard let here, target.starts(with: root) else { return path }
        let common = zip(here, target).prefix { $0 == $1 }.count
        let up = [[UInt8]](repeating: Array("..".utf8), count: here.count - common)
        let relative = Array((up + target[common...]).joined(separator: [Self.slash]))
        if relative.isEmpty { return [UInt8(ascii: ".")] }
        // Otherwise it could be read as an option.
        return relative.first == UInt8(ascii: "-") ? Array("./".utf8) + relative : relative
    }

    /// Returns the path of a record in a directory that an argument has named: as a file beside the
    /// argument where that is a path of the system.
    func spell(_ path: RecordPath, in directory: LocatedPath) -> [UInt8] {
        guard let stem = path.stem, directory.isFile else { return spell(path.bytes) }
        var text = Array(directory.text.utf8)
        while text.count > 1, text.last == Self.slash { text.removeLast() }
        return text + [Self.slash] + stem.fileName
    }

    private static func components(_ path: [UInt8]) -> [[UInt8]] {
        path.split(separator: slash).map(Array.init)
    }
}
