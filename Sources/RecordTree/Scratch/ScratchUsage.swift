import Glibc
package import RecordModel

/// How much of the machine's disk scratch takes. None of it is uploaded, nor in the history.
package struct ScratchUsage: Sendable, Hashable {
    package private(set) var files: Int64 = 0
    /// The sizes of the files, each counted once however many names it has.
    package private(set) var bytes: Int64 = 0

    /// What the mounts of a store show as scratch.
    package static func scratch(stateDirectory: String) throws(RecordError) -> ScratchUsage {
        try ScratchUsage(ScratchStorage(stateDirectory: stateDirectory), ScratchStorage.root)
    }

    /// The tools' temporaries that were thrown away and can still be had back.
    package static func trash(stateDirectory: String) throws(RecordError) -> ScratchUsage {
        try ScratchUsage(ScratchStorage(stateDirectory: stateDirectory), ScratchStorage.trash)
    }

    private init(files: Int64, bytes: Int64) { (self.files, self.bytes) = (files, bytes) }

    /// A file, or a directory with all in it.
    ///
    /// - Parameter route: below the scratch root.
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
