import RecordControl
import RecordDaemon
import RecordModel
import RecordMount

extension MountSettings {
    /// Removes a stale mount there, refuses a live one, and makes the directory.
    func prepareMountpoint() throws(CommandFailure) {
        try reporting(mountpoint) { () throws(RecordError) in
            if MountTable.isStale(mountpoint) {
                try MountDaemon.unmount(mountpoint: mountpoint, lazy: true)
            }
            if MountTable.mount(at: mountpoint)?.isRecordFS == true {
                throw RecordError(
                    .alreadyExists,
                    "is mounted already. recordfs unmount \(mountpoint) ends that mount.")
            }
            try checkPlaces()
            try HostDirectory.make(mountpoint)
            let isFit = mount.hidesFiles ? true : try HostDirectory.isEmpty(mountpoint)
            guard isFit else {
                throw RecordError(
                    .notEmpty,
                    "has files, which a mount would hide. Choose another directory, or hide them "
                        + "with -o nonempty.")
            }
        }
    }

    /// Checks the places of the mount and the store.
    ///
    /// Errors: `invalidArgument` when the mount would cover records, or when the store would be on
    /// a mount.
    private func checkPlaces() throws(RecordError) {
        if let outer = MountedPath(mountpoint).mount {
            throw RecordError(
                .invalidArgument,
                "is on the mount \(outer.mountpoint), whose records it would hide. Choose a "
                    + "directory outside it.")
        }
        let store = MountedPath(directory)
        if let outer = store.mount {
            throw RecordError(
                .invalidArgument,
                "the store cannot be in \(directory): that is on the mount \(outer.mountpoint).")
        }
        guard store.path != mountpoint, !store.path.hasPrefix(mountpoint + "/") else {
            throw RecordError(
                .invalidArgument,
                "would hide its own store in \(directory). Choose another directory.")
        }
    }
}
