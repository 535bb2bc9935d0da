import Logging
import RecordControl
import RecordModel
import RecordStore
import Synchronization

/// Tells people about refused saves, because many programs do not check the answer of `close`: with
/// a line for shells, and with a notice on the desktop if there is one.
final class RefusalNotices: Sendable {
    /// The time in which a tool that saves again and again causes only one notice.
    private static let pause: Duration = .seconds(30)

    private struct State {
        var refused: [RecordID: String] = [:]
        var told: [String: ContinuousClock.Instant] = [:]
    }

    private let mountpoint: String
    private let log: RefusalLog
    private let desktop: DesktopNotice?
    private let state = Mutex(State())

    init(mountpoint: String, log: RefusalLog, logger: Logger) {
        self.mountpoint = mountpoint
        self.log = log
        desktop = DesktopNotice(logger)
    }

    func tell(_ changes: [StoreChange], of store: RecordStore) {
        for change in changes {
            guard let record = change.record else { continue }
            switch change.kind {
            case .draft where change.author == .mount: tellDraft(record, change, store)
            case .created, .updated, .text, .deleted, .waiting: tellSaved(record)
            default: break
            }
        }
    }

    private func tellDraft(_ record: RecordID, _ change: StoreChange, _ store: RecordStore) {
        let found: (path: String, reason: String)?
        do throws(RecordError) {
            guard let draft = try store.draft(of: record), let type = try store.type(draft.type),
                let zone = try store.zone(type.zone)
            else { return }
            let path = RecordPath(
                database: zone.database, owner: zone.owner, zone: zone.name, type: type.name,
                item: .record(draft.stem))
            // An empty text is a save that has only begun.
            guard !draft.text.isEmpty else { return }
            found = ("\(mountpoint)/\(path)", "\(draft.error)")
        } catch {
            found = nil
        }
        guard let found else { return }
        state.withLock { $0.refused[record] = found.path }
        show(found.path, found.reason)
    }

    /// Reports a refused save.
    ///
    /// - Parameter path: the path below the mount.
    func tell(_ path: String, _ reason: String) { show("\(mountpoint)/\(path)", reason) }

    private func show(_ path: String, _ reason: String) {
        log.append(["refused", path, reason])
        guard let desktop else { return }
        let now = ContinuousClock.now
        let isNew = state.withLock { state in
            state.told = state.told.filter { now - $0.value < Self.pause }
            return state.told.updateValue(now, forKey: path) == nil
        }
        if isNew { desktop.show(path, reason) }
    }

    private func tellSaved(_ record: RecordID) {
        guard let path = state.withLock({ $0.refused.removeValue(forKey: record) }) else { return }
        log.append(["saved", path])
    }
}
