import RecordModel
import RecordStore

/// Programs that could not leave a share, and their removals after that.
extension ShareEnding {
    /// Notes that a share could not be left. `rm -r` removes the file of the share first. When the
    /// share stays, the files below it still belong to its owner.
    func noteFailedLeave(_ file: ShareFile, _ caller: Requester) {
        do throws(RecordError) {
            guard let zone = try shares.share(file)?.zone, zone.database == .shared else { return }
            shareStates.noteFailedLeave(
                by: options.programs.program(caller.threadID), of: zone.id, for: Self.patience)
        } catch {
            options.report(
                "A program that did not leave a share may remove records: \(error)")
        }
    }

    /// Throws for a program that has just failed to leave the share from which it removes something
    /// now.
    func checkLeave(_ type: TypeID, _ caller: Requester) throws(RecordError) {
        guard shareStates.hasFailedLeaves else { return }
        let zone = try places.place(of: type).zone.id
        guard let failed = shareStates.failedLeave(of: zone) else { return }
        let program = options.programs.program(caller.threadID)
        guard failed.program == nil || program == failed.program else { return }
        throw RecordError(
            .accessDenied,
            "the share could not be left, and its records belong to the owner. Use recordfs leave "
                + "to leave it.")
    }
}
