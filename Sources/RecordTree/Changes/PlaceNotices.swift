import RecordModel
import RecordStore

/// The notices about zones, record types and shares.
extension RemoteChanges {
    func placeNotices(of change: StoreChange) -> [KernelNotice] {
        if change.kind == .share { return shareNotices(of: change.zone) }
        // No name changes in the other cases. When the kernel forgets the name of a directory,
        // programs in it lose the directory.
        guard change.concernsPlaces else { return [] }
        var notices = Database.allCases.map { KernelNotice.content(NodeNumber($0)) }
        let zoneNumber = nodes.number(of: change.zone)
        notices.append(.content(zoneNumber))
        do throws(RecordError) {
            if change.kind == .permission {
                notices += try permissionNotices(of: change.zone)
            } else if change.type == nil, let zone = try store.past.keptZone(change.zone) {
                notices += try entryNotices(of: zone)
            }
            if let type = change.typeName {
                notices.append(
                    .entry(parent: zoneNumber, name: ZoneMapping.plain.directoryName(of: type)))
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
        if let owner = nodes.number(of: .owner(zone.owner)) {
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
                // A file that was renamed here has the number of the file that it was.
                let number = nodes.number(of: .record(record.file))
                if let number { notices.append(.content(number)) }
            }
            // Also those whose record has not come yet.
            for asset in try store.assets.assets(in: type.id, limit: .max) {
                let number = nodes.number(of: .asset(asset.id))
                if let number { notices.append(.content(number)) }
            }
        }
        return notices
    }

    /// Returns the notices for the directories that list the zone's shares. The kernel asks for the
    /// content of these files each time.
    private func shareNotices(of zone: ZoneID) -> [KernelNotice] {
        do throws(RecordError) {
            return [.content(nodes.number(of: zone))]
                + (try store.types(in: zone).map { .content(NodeNumber($0.id)) })
        } catch {
            options.report("Shares of a zone may be listed as they were: \(error)")
            return []
        }
    }
}
