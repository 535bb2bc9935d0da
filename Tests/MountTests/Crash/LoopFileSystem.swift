import CTestSystem
import Glibc
import Testing

/// A small file system in an image file, mounted by the loop device; it can be cut off or full.
final class LoopFileSystem {
    let folder: String
    let directory: String
    private let image: String

    /// `kind` is ext4 or xfs. Needs root, as loop mounts do.
    init(kind: String, megabytes: Int) throws {
        try #require(
            geteuid() == 0, "this test mounts an image: run it as root (see scripts/test)")
        folder = try TestRoot.makeDirectory("loop")
        directory = "\(folder)/disk"
        image = "\(folder)/image"
        try SystemCall.makeDirectory(directory)
        try succeed("truncate", "-s", "\(megabytes)M", image)
        switch kind {
        case "xfs": try succeed("mkfs.xfs", "-q", image)
        default: try succeed("mkfs.ext4", "-q", "-m", "0", image)
        }
        try attach()
    }

    func attach() throws { try succeed("mount", "-o", "loop", image, directory) }

    /// As if the power went: nothing more reaches the image, not even the journal.
    func cutPower() throws { try succeed("xfs_io", "-x", "-c", "shutdown", directory) }

    func detach() throws {
        // The kernel lets go of the files of a killed process a moment after its end.
        var error: Int32 = 0
        let isDetached = MountTable.wait(
            seconds: 20,
            until: {
                error = test_unmount(directory) == 0 ? 0 : errno
                return error == 0
            }, orUntil: { error != EBUSY })
        guard isDetached else { throw SystemCallError("umount \(directory)", error) }
    }

    var freeBytes: Int {
        var value = statvfs()
        guard statvfs(directory, &value) == 0 else { return 0 }
        return Int(value.f_bavail) * Int(value.f_frsize)
    }

    deinit {
        MountTable.detach(directory)
        TestRoot.removeTree(folder)
    }
}
