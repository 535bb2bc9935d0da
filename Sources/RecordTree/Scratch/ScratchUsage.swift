import Glibc
package import RecordModel

/// The disk space that scratch uses on this machine. None of it is uploaded or in the history.
package struct ScratchUsage: Sendable, Hashable {
    package private(set) var files: Int64 = 0
    /// The sizes of the files, each counted once however many names it has.
    package private(set) var bytes: Int64 = 0

    /// Returns the space of the files that the mounts of a store show as scratch.
    package static func scratch(stateDirectory: String) throws(RecordError) -> ScratchUsage {
        try ScratchUsage(ScratchStorage(stateDirectory: stateDirectory), ScratchStorage.root)
    }

    /// Returns the space of the tools' temporary files that were thrown away and can still be
    /// restored.
    package static func trash(stateDirectory: String) throws(RecordError) -> ScratchUsage {
        try ScratchUsage(ScratchStorage(stateDirectory: stateDirectory), ScratchStorage.trash)
    }

    private init(files: Int64, bytes: Int64) { (self.files, self.bytes) = (files, bytes) }

    /// The space of a file, or of a directory with everything in it.
    ///
    /// - Parameter route: the path below the scratch root.
    init(_ storage: ScratchStorage, of route: [UInt8], _ status: stat) throws(RecordError) {
        guard status.isDirectory else {
            self.init(files: 1, bytes: Int64(status.st_size))
            return
        }
        try self.init(storage, ScratchStorage.root + [UInt8(ascii: "/")] + route)
    }

    private init(_ storage: ScratchStorage, _ root: [UInt8]) throws(RecordError) {
        var linked: Set<HostIdentity> = []
        var directories = [root]
        while let directory = directories.popLast() {
            for name in try storage.name(inState: directory).names() {
                let path = directory + [UInt8(ascii: "/")] + name
                guard let status = try storage.name(inState: path).status() else { continue }
                if status.isDirectory {
                    directories.append(path)
                } else if status.st_nlink == 1 || linked.insert(HostIdentity(status)).inserted {
                    files += 1
                    bytes += Int64(status.st_size)
                }
            }
        }
    }
}
