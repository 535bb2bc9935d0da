import RecordModel
import RecordStore

/// Makes the kernel and open files follow the commits of the store.
final class RemoteChanges: Sendable {
    let assetChanges: AssetChanges
    let errors: ErrorReports
    let events: EventLog
    let handles: OpenHandles
    let kernel: KernelNotifier
    let nodeNotices: NodeNotices
    let nodes: Nodes
    let options: TreeOptions
    let places: TypeDirectories
    let records: OpenRecords
    let rows: CachedRows
    let saving: RecordSaving
    let scratch: ScratchFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms
    ) {
        assetChanges = assetRooms.assetChanges
        errors = ground.errors
        events = ground.events
        handles = ground.handles
        kernel = ground.kernel
        nodeNotices = ground.nodeNotices
        nodes = ground.nodes
        options = ground.options
        places = ground.places
        records = recordRooms.records
        rows = ground.rows
        saving = recordRooms.saving
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Handles every commit. The kernel knows the changes of the mount itself, but not their
    /// consequences, and is notified of all others here. Returns the touches that make inotify
    /// report the changes.
    func storeChanged(_ changes: [StoreChange]) -> [Touch] {
        rows.forget(changes)
        for change in changes {
            guard let record = change.record, let target = change.movedTo else { continue }
            assetChanges.followFields(of: record, to: target)
        }
        assetChanges.assetNamesChanged(changes)
        if events.hasReaders {
            for members in changes.flatMap(eventLines(of:)) { events.append(members) }
        }
        var notices: [KernelNotice] = []
        var touches: [Touch] = []
        for change in changes {
            if change.concernsPlaces {
                notePlaces(change)
                // A program in the removed directory stays in an empty place. The next zone with
                // its name gets another number.
                if change.kind == .zoneRemoved { nodes.retire(.zone(change.zone)) }
            }
            notices += assetChanges.waitingAssetNotices(of: change)
            notices += errors.draftNotices(of: change)
            notices += stemNotices(of: change)
            touches += stemTouches(of: change)
            guard change.author != .mount || change.isConsequence else {
                tellOfOwnReplacement(change)
                continue
            }
            if change.author.isProgram, change.movedTo == nil, let type = change.type,
                let stem = change.stem
            {
                saving.dropUnsaved(type, stem)
            }
            noteArrival(change)
            notices += self.notices(of: change)
            notices += revokeScratch(goneWith: change)
            if let touch = touch(of: change) { touches.append(touch) }
        }
        kernel.notify(notices)
        return touches
    }

    private func noteArrival(_ change: StoreChange) {
        guard change.author == .sync, change.kind == .created || change.kind == .restored,
            let record = change.record, let type = change.type
        else { return }
        records.arrivals.add(record, in: type)
    }

    /// Notes in which directories a place was added, removed or given other modes.
    private func notePlaces(_ change: StoreChange) {
        places.forgetAll()
        guard change.kind == .zoneMade || change.kind == .zoneRemoved else { return }
        do throws(RecordError) {
            guard let zone = try store.past.keptZone(change.zone) else { return }
            places.noteChanged(zone, at: options.now)
        } catch {
            options.report("The directory with a zone shows an old time: \(error)")
        }
    }

    private func notices(of change: StoreChange) -> [KernelNotice] {
        guard let type = change.type, let record = change.record, let stem = change.stem else {
            return placeNotices(of: change)
        }
        let parent = NodeNumber(type)
        let name = stem.fileName
        switch change.kind {
        case .created, .restored:
            return [.entry(parent: parent, name: name), .content(parent)]
        case .deleted, .waiting:
            // An edit of a record that was deleted on another machine wins as the later change,
            // except in records of others.
            var revoked: [KernelNotice] = []
            if let file = change.replaced {
                if let target = change.movedTo { follow(file, to: target) }
                if change.author == .sync {
                    revoked = revoke(file, of: change.zone)
                } else if change.movedTo == nil {
                    records.unlink(file)
                }
            }
            return revoked + [replacement(change.replaced, parent, name), .content(parent)]
        case .updated, .text: return recordNotices(of: change, record, parent, name)
        case .draft:
            // The draft may be all that the name shows: the kernel may remember that it is absent.
            return recordNotices(of: change, record, parent, name)
                + [.entry(parent: parent, name: name), .content(parent)]
        case .asset: return recordNotices(of: change, record, parent, name) + [.content(parent)]
        case .conflict, .pinned, .exchanged: return []
        case .permission, .share, .zoneMade, .zoneRemoved, .typeMade, .typeRemoved:
            return placeNotices(of: change)
        }
    }

    private func touch(of change: StoreChange) -> Touch? {
        guard let type = change.type, let stem = change.stem, change.record != nil else {
            return nil
        }
        let kind: Touch.Kind
        switch change.kind {
        case .created, .restored: kind = .created
        case .updated, .draft, .asset: kind = .changed
        case .text: return nil
        case .deleted, .waiting: kind = .deleted
        case .conflict, .pinned, .exchanged, .permission, .share, .zoneMade, .zoneRemoved,
            .typeMade, .typeRemoved:
            return nil
        }
        guard let path = places.directoryPath(of: type) else { return nil }
        return Touch(
            kind: kind, directory: NodeNumber(type), directoryPath: path, name: stem.fileName)
    }
}

extension StoreChange {
    /// Indicates whether zones or types were added, removed or given other modes.
    var concernsPlaces: Bool {
        switch kind {
        case .permission, .zoneMade, .zoneRemoved, .typeMade, .typeRemoved: true
        case .created, .updated, .deleted, .waiting, .restored, .draft, .asset, .conflict, .text,
            .pinned, .exchanged, .share:
            false
        }
    }
}
