import RecordModel
package import RecordStore
import Synchronization

/// A change that was not made through the mount, as a path for the touch that makes inotify report
/// it.
package struct Touch: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case created
        case changed
        case deleted
    }
    package let kind: Kind
    /// The directory by its node and its path below the mount point.
    package let directory: NodeNumber
    package let directoryPath: [UInt8]
    package let name: [UInt8]
}

extension Tree {
    /// Handles every commit. The kernel knows the changes of the mount itself, and is notified of
    /// all others here. Returns the touches that make inotify report the changes.
    package func storeChanged(_ changes: [StoreChange]) -> [Touch] {
        state.withLock { $0.entries.forget(changes) }
        for change in changes {
            guard let record = change.record, let target = change.movedTo else { continue }
            followFields(of: record, to: target)
        }
        assetNamesChanged(changes)
        if events.hasReaders {
            for members in changes.flatMap(eventLines(of:)) { events.append(members) }
        }
        var notices: [KernelNotice] = []
        var touches: [Touch] = []
        for change in changes {
            if change.concernsPlaces {
                let now = now
                state.withLock { state in
                    state.places = [:]
                    state.placesChanged = now
                    // A program in the removed directory stays in an empty place. The next zone
                    // with its name gets another number.
                    if change.kind == .zoneRemoved { state.nodes.retire(.zone(change.zone)) }
                }
            }
            notices += waitingAssetNotices(of: change)
            notices += draftNotices(of: change)
            notices += stemNotices(of: change)
            touches += stemTouches(of: change)
            guard change.author != .mount else {
                tellOfOwnReplacement(change)
                continue
            }
            if change.author.isProgram, change.movedTo == nil, let type = change.type,
                let stem = change.stem
            {
                dropUnsaved(type, stem)
            }
            notices += self.notices(of: change)
            notices += revokeScratch(goneWith: change)
            if let touch = touch(of: change) { touches.append(touch) }
        }
        notify(notices)
        return touches
    }

    /// Returns the notices for `.error`. The file appears with a directory's first draft and
    /// disappears with the last one, and the kernel would not see a change of the directory.
    private func draftNotices(of change: StoreChange) -> [KernelNotice] {
        guard let type = change.type else { return [] }
        let (hadDrafts, hasSeen) = state.withLock {
            ($0.typesWithDrafts.contains(type), $0.acknowledged[type] != nil)
        }
        // Discarding a draft is also a change of the draft. A record that is restored unchanged
        // gets its refusal back.
        guard hadDrafts || [.draft, .restored, .text].contains(change.kind) else { return [] }
        let hasDrafts = (try? store.refusals(in: type).isEmpty) == false
        guard hadDrafts != hasDrafts || hasSeen else { return [] }
        state.withLock { state in
            if hasDrafts {
                state.typesWithDrafts.insert(type)
            } else {
                state.typesWithDrafts.remove(type)
                state.acknowledged[type] = nil
            }
        }
        return [.content(NodeNumber(type))]
    }

    /// Returns the notices for the assets of a record. They disappear when its delete becomes
    /// final, which the kernel does not see.
    private func waitingAssetNotices(of change: StoreChange) -> [KernelNotice] {
        guard let record = change.record, let type = change.type else { return [] }
        switch change.kind {
        case .waiting:
            let assets = change.waitingAssets
            if !assets.isEmpty { state.withLock { $0.waitingAssets[record] = assets } }
            return []
        case .deleted:
            let assets = forgetWaitingAssets(of: record)
            return assets.map { .entry(parent: NodeNumber(type), name: $0.fileName) }
        case .created, .updated, .restored, .text, .draft:
            _ = forgetWaitingAssets(of: record)
            return []
        case .asset, .conflict, .pinned, .exchanged, .permission, .share, .zoneMade,
            .zoneRemoved, .typeMade, .typeRemoved:
            return []
        }
    }

    private func forgetWaitingAssets(of record: RecordID) -> [AssetEntry] {
        state.withLock { state in
            guard let assets = state.waitingAssets.removeValue(forKey: record) else { return [] }
            for asset in assets { state.hiddenAssets.remove(asset.id) }
            return assets
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
                    state.withLock { $0.open[file] }?.unlink()
                }
            }
            return revoked + [replacement(change.replaced, parent, name), .content(parent)]
        case .updated, .draft, .text: return recordNotices(of: change, record, parent, name)
        case .asset: return recordNotices(of: change, record, parent, name) + [.content(parent)]
        case .conflict, .pinned, .exchanged: return []
        case .permission, .share, .zoneMade, .zoneRemoved, .typeMade, .typeRemoved:
            return placeNotices(of: change)
        }
    }

    /// Moves an open file of the record to the record's new place. Where that cannot be read, a
    /// save makes a new record in the old place.
    private func follow(_ file: RecordFile, to target: RecordID) {
        guard let open = state.withLock({ $0.open[file] }) else { return }
        do throws(RecordError) {
            guard let entry = try store.record(target), entry.state == .saved,
                let shown = try store.shownText(of: target)
            else { return }
            let place = try place(of: entry.type)
            let isSame = open.state.withLock { open in
                open.home = place
                return !open.isDirty && (open.text.map { $0 == shown.text } ?? true)
            }
            state.withLock {
                $0.move(file, to: entry.file, entry.type, entry.stem, isSame: isSame)
            }
        } catch {
            options.report(
                "A program with an open file that was moved does not follow it: \(error)")
        }
    }

    /// Returns the notices for a record: the name shows another file, or the same file with other
    /// attributes.
    private func recordNotices(
        of change: StoreChange, _ record: RecordID, _ parent: NodeNumber, _ name: [UInt8]
    ) -> [KernelNotice] {
        if let old = change.replaced { return [replacement(old, parent, name)] }
        guard let file = (try? store.record(record))?.file,
            let number = state.withLock({ $0.nodes.number(of: .record(file)) })
        else { return [.entry(parent: parent, name: name)] }
        return [.content(number)]
    }

    private func replacement(_ old: RecordFile?, _ parent: NodeNumber, _ name: [UInt8])
        -> KernelNotice
    {
        guard let old, let number = state.withLock({ $0.nodes.number(of: .record(old)) }) else {
            return .entry(parent: parent, name: name)
        }
        return .replaced(parent: parent, name: name, old: number)
    }

    /// Notifies the kernel when a call of the mount has made a name show another file without a
    /// move in the kernel: the text of a record whose asset was written, the draft of a refused
    /// rename.
    private func tellOfOwnReplacement(_ change: StoreChange) {
        guard change.effect == .rewritten || change.effect == .replaced,
            let file = change.replaced, let type = change.type, let stem = change.stem
        else { return }
        nameReplaced(type, stem, file)
    }

    /// Makes the kernel look the name up again before it answers from the old file: that file can
    /// no longer be opened, and its attributes are dropped before the current call is answered. The
    /// name itself is dropped later, because the current call may hold the lock of its directory.
    func nameReplaced(_ type: TypeID, _ stem: Stem, _ old: RecordFile) {
        guard let number = state.withLock({ $0.nodes.number(of: .record(old)) }) else { return }
        deliver([.content(number)])
        notify([.replaced(parent: NodeNumber(type), name: stem.fileName, old: number)])
    }

    private func placeNotices(of change: StoreChange) -> [KernelNotice] {
        if change.kind == .share { return shareNotices(of: change.zone) }
        // No name changes in the other cases. When the kernel forgets the name of a directory,
        // programs in it lose the directory.
        guard change.concernsPlaces else { return [] }
        var notices = Database.allCases.map { KernelNotice.content(NodeNumber($0)) }
        let zoneNumber = number(of: change.zone)
        notices.append(.content(zoneNumber))
        do throws(RecordError) {
            if change.kind == .permission {
                notices += try permissionNotices(of: change.zone)
            } else if change.type == nil, let zone = try store.keptZone(change.zone) {
                notices += try entryNotices(of: zone)
            }
            if let id = change.type, let type = try store.type(id) {
                notices.append(
                    .entry(
                        parent: zoneNumber,
                        name: ZoneMapping.plain.directoryName(of: type.name)))
            }
        } catch {
            options.report(
                "Names and modes of a zone may be old until they are looked up: \(error)")
        }
        return notices
    }

    /// Returns the notices for a zone that was added or removed: the kernel may remember an added
    /// name as absent and a removed one as present. Only that name, because programs in a directory
    /// lose it when the kernel forgets its name.
    private func entryNotices(of zone: ZoneInfo) throws(RecordError) -> [KernelNotice] {
        let name = NameCodec.encode(zone.name.bytes)
        guard zone.database == .shared else {
            return [.entry(parent: NodeNumber(zone.database), name: name)]
        }
        var notices: [KernelNotice] = []
        if let owner = state.withLock({ $0.nodes.number(of: .owner(zone.owner)) }) {
            notices = [.entry(parent: owner, name: name), .content(owner)]
        }
        // While the owner has other zones on this machine, the owner's directory stays usable.
        let isOnly = try !store.zones(in: .shared).contains {
            $0.owner == zone.owner && $0.id != zone.id
        }
        if isOnly {
            notices.append(
                .entry(
                    parent: NodeNumber(Database.shared), name: zone.owner.fileName))
        }
        return notices
    }

    /// Returns the notices for the modes of all files in a zone. A notice about a file that the
    /// kernel does not know does no harm.
    private func permissionNotices(of zone: ZoneID) throws(RecordError) -> [KernelNotice] {
        var notices: [KernelNotice] = []
        for type in try store.types(in: zone) {
            notices.append(.content(NodeNumber(type.id)))
            for record in try store.records(in: type.id, limit: .max) {
                notices.append(.content(NodeNumber(record.file)))
                guard record.hasAssets else { continue }
                for asset in try store.assets(of: record.id) {
                    let number = state.withLock { $0.nodes.number(of: .asset(asset.id)) }
                    if let number { notices.append(.content(number)) }
                }
            }
        }
        return notices
    }

    func number(of zone: ZoneID) -> NodeNumber {
        state.withLock { $0.nodes.number(of: zone) }
    }

    /// Returns the notices for the directories that list the zone's shares. The kernel asks for the
    /// content of these files each time.
    private func shareNotices(of zone: ZoneID) -> [KernelNotice] {
        do throws(RecordError) {
            return [.content(number(of: zone))]
                + (try store.types(in: zone).map { .content(NodeNumber($0.id)) })
        } catch {
            options.report("Shares of a zone may be listed as they were: \(error)")
            return []
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
        guard let path = directoryPath(of: type) else { return nil }
        return Touch(
            kind: kind, directory: NodeNumber(type), directoryPath: path, name: stem.fileName)
    }

    /// Returns the path of a TYPE directory below the mount point. Returns nil when it no longer
    /// exists.
    func directoryPath(of type: TypeID) -> [UInt8]? {
        guard let place = try? place(of: type) else { return nil }
        return Array(place.shownPath.joined(separator: [UInt8(ascii: "/")]))
    }

    /// Prepares a touch: sets the state that the daemon's own calls find. Returns false when the
    /// touch has become pointless, because the name has changed again.
    package func prepare(_ touch: Touch) -> Bool {
        guard case .type(let type)? = state.withLock({ $0.nodes.node(touch.directory) }),
            case .record(let stem) = EntryName(classifying: touch.name)
        else { return false }
        let exists = (try? findRecord(type, stem)) != nil
        state.withLock { state in
            switch touch.kind {
            case .created:
                if exists { state.arrivals[type, default: []].insert(touch.name) }
            case .deleted:
                if !exists {
                    let ghost = state.nodes.lookUp(.errorFile(type))
                    state.ghosts[type, default: [:]][touch.name] = ghost
                }
            case .changed: break
            }
        }
        return touch.kind == .deleted ? !exists : exists
    }

    package func finish(_ touch: Touch) {
        guard case .type(let type)? = state.withLock({ $0.nodes.node(touch.directory) }) else {
            return
        }
        state.withLock { state in
            state.arrivals[type]?.remove(touch.name)
            state.ghosts[type]?[touch.name] = nil
        }
        // The dentries of the touch have no use after it.
        notify([.entry(parent: touch.directory, name: touch.name), .content(touch.directory)])
    }

    /// Returns the answer for a lookup by the daemon itself. Returns nil when the lookup is like
    /// any other.
    func adoptingLookup(_ parent: Node, _ name: [UInt8]) -> (entry: NodeEntry?, Void)? {
        guard case .type(let type) = parent else { return nil }
        let (isArrival, ghost) = state.withLock { state in
            (state.arrivals[type]?.contains(name) == true, state.ghosts[type]?[name])
        }
        if isArrival { return (nil, ()) }
        guard let ghost else { return nil }
        let attributes = file(ghost, size: 0, modified: now, 0o644)
        return (NodeEntry(node: ghost, attributes: attributes, isCacheable: false), ())
    }

    /// Answers when the daemon "creates" a record that has arrived: the kernel raises CREATE, and
    /// the record stays as it is.
    func adoptCreation(_ parent: Node, _ name: [UInt8]) throws(RecordError) -> (NodeEntry, Opened)?
    {
        guard case .type(let type) = parent,
            state.withLock({ $0.arrivals[type]?.contains(name) == true }),
            case .record(let stem) = EntryName(classifying: name),
            let file = try findRecord(type, stem), let entry = try entry(of: .record(file))
        else { return nil }
        return (entry, Opened(handle: addHandle(.bytes([]), flags: 0), keepCache: true))
    }

    /// Answers when the daemon "removes" a record that is already deleted: the kernel raises
    /// DELETE.
    func adoptRemoval(_ parent: Node, _ name: [UInt8]) -> Bool {
        guard case .type(let type) = parent else { return false }
        return state.withLock { $0.ghosts[type]?[name] != nil }
    }
}

extension StoreChange {
    fileprivate var concernsPlaces: Bool {
        switch kind {
        case .permission, .zoneMade, .zoneRemoved, .typeMade, .typeRemoved: true
        case .created, .updated, .deleted, .waiting, .restored, .draft, .asset, .conflict, .text,
            .pinned, .exchanged, .share:
            false
        }
    }
}
