import Logging
import RecordModel
import RecordMount
import RecordStore

/// The way in which a daemon opens the store of its mount.
struct StoreOpening {
    /// The longest time that the last process with the store may take to release it.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(20)

    let mount: MountConfiguration
    let logger: Logger
    /// Ends the wait for another process.
    let stop: StopSignal

    var canWrite: Bool { RecordStore.canWrite(directory: mount.stateDirectory) }

    /// Opens the store. Errors: readOnly when the directory cannot be written and the mount is not
    /// read-only; those of `RecordStore.open`.
    func open() throws(RecordError) -> RecordStore {
        var options = StoreOptions(grace: mount.grace, logger: logger, readOnly: mount.readOnly)
        options.mountAuthor = mount.author
        options.caller = { CallingProgram.current ?? .ofServedCall }
        guard !canWrite else { return try openForWriting(options) }
        guard mount.readOnly else {
            throw RecordError(
                .readOnly,
                "\(mount.stateDirectory) cannot be written. Mount it with --read-only, or copy it "
                    + "to a disk that can be written.")
        }
        return try RecordStore.openForReading(directory: mount.stateDirectory, options: options)
    }

    /// Opens the store. Waits for a process that no longer has a mount and is about to release the
    /// store: the last daemon, or a command. Errors: as `RecordStore.open`.
    private func openForWriting(_ options: StoreOptions) throws(RecordError) -> RecordStore {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(RecordError) {
                return try RecordStore.open(directory: mount.stateDirectory, options: options)
            } catch {
                let isPassing =
                    error.code == .storeLocked
                    && MountTable.mounts(ofStore: mount.stateDirectory).isEmpty
                guard isPassing, ContinuousClock.now < deadline, !stop.wait(Self.pause) else {
                    throw error
                }
            }
        }
    }
}
