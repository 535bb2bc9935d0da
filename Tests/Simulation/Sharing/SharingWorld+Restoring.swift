import ServerTestSupport
import TestSupport

/// Backups of the server in histories of several users.
extension SharingWorld {
    struct Backup {
        let files: TemporaryDirectory
        /// The shares that it has.
        let model: ShareModel
    }

    func backUp() async throws { backup = Backup(files: try await server.backUp(), model: model) }

    /// Shares are as they were: who was invited since is out, and who was put out is in again.
    func restoreServer() async throws {
        guard let backup else { return }
        try await server.restore(backup.files)
        let before = shared
        (model, shared) = (backup.model, SharedServer())
        // They were sealed by the server that is no more.
        links.forget()
        for (name, reading) in zip(zones, try await readings()) {
            _ = shared.read(name, reading.zone, photos)
            compare(name, reading.shares)
        }
        oracle.restore(before, shared)
        tellParticipants()
    }
}
