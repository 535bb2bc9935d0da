import RecordModel
import RecordStore

/// The texts of generated files below `.recordfs`.
final class ControlTexts: Sendable {
    let conflicts: Conflicts
    let handles: OpenHandles
    let kept: KeptContents
    let modelFiles: ModelFiles
    let moments: Moments
    let options: TreeOptions
    let places: TypeDirectories
    let recordStates: RecordStates
    let records: OpenRecords
    let saving: RecordSaving
    let store: RecordStore
    let workingFiles: WorkingFiles

    init(
        _ ground: Ground, _ recordRooms: RecordRooms, conflicts: Conflicts, kept: KeptContents,
        moments: Moments
    ) {
        self.conflicts = conflicts
        handles = ground.handles
        self.kept = kept
        modelFiles = ModelFiles(store: ground.store)
        self.moments = moments
        options = ground.options
        places = ground.places
        recordStates = ground.recordStates
        records = recordRooms.records
        saving = recordRooms.saving
        store = ground.store
        workingFiles = ground.workingFiles
    }

    func statusText() throws(RecordError) -> [UInt8] {
        let counts = try store.syncState.counts()
        var zones: [JSONValue] = []
        for count in counts.zones {
            guard let zone = try store.zone(count.zone) else { continue }
            var members = [
                JSONMember(key: "database", value: .string(Text(zone.database.name))),
                JSONMember(key: "zone", value: .string(Text(utf8: zone.name.bytes))),
                JSONMember(key: "records", value: .integer(count.records)),
                JSONMember(key: "pending", value: .integer(count.pending)),
                JSONMember(key: "drafts", value: .integer(count.drafts)),
                JSONMember(key: "refused", value: .integer(count.refused)),
                JSONMember(key: "conflicts", value: .integer(count.conflicts)),
                JSONMember(key: "passedOver", value: .integer(count.passedOver)),
            ]
            if let oldest = count.oldestPending {
                members.append(
                    JSONMember(key: "oldestPending", value: .string(Text(oldest.iso8601))))
            }
            zones.append(.object(members))
        }
        let scratch = try ScratchUsage.scratch(stateDirectory: store.directory)
        let server = options.server.status()
        let status = JSONValue.object([
            JSONMember(key: "account", value: server?["user"] ?? .null),
            JSONMember(key: "server", value: server?["server"] ?? .null),
            JSONMember(key: "sync", value: server ?? .null),
            JSONMember(key: "scratchFiles", value: .integer(scratch.files)),
            JSONMember(key: "scratchBytes", value: .integer(scratch.bytes)),
            JSONMember(key: "unsaved", value: .integer(Int64(saving.unsavedCount))),
            JSONMember(key: "zones", value: .array(zones)),
        ])
        return status.serialized(pretty: true) + [UInt8(ascii: "\n")]
    }

    func metricsText() throws(RecordError) -> [UInt8] {
        let counts = try store.syncState.counts()
        let (openRecords, openHandles) = (records.count, handles.count)
        let figures: [(String, String, Int64)] = [
            (
                "recordfs_records", "Records in the store.",
                counts.records
            ),
            (
                "recordfs_pending_changes", "Changes that no server has acknowledged.",
                counts.pending
            ),
            ("recordfs_drafts", "Rejected saves.", counts.drafts),
            (
                "recordfs_refused_changes", "Changes that the server has refused.",
                counts.refused
            ),
            (
                "recordfs_conflicts", "Conflicts that nobody has settled.",
                counts.conflicts
            ),
            (
                "recordfs_passed_over_records",
                "Records of the server that cannot be shown here.", counts.passedOver
            ),
            ("recordfs_open_records", "Records that are open.", Int64(openRecords)),
            ("recordfs_open_handles", "Open files and directories.", Int64(openHandles)),
        ]
        let lines = figures.map { name, help, value in
            "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        return Array(lines.joined().utf8)
    }

    func metaText(_ meta: RecordMeta) throws(RecordError) -> [UInt8] {
        let place = try places.place(of: meta.type)
        var members = [
            JSONMember(key: "name", value: .string(Text(utf8: meta.name.bytes))),
            JSONMember(key: "database", value: .string(Text(place.zone.database.name))),
            JSONMember(key: "zone", value: .string(Text(utf8: place.zone.name.bytes))),
            JSONMember(key: "type", value: .string(Text(utf8: place.type.bytes))),
            JSONMember(key: "permission", value: .string(Text(meta.permissionName))),
            JSONMember(
                key: "changeTag",
                value: meta.changeTag.isEmpty ? .null : .string(Text(meta.changeTag))),
            JSONMember(key: "created", value: .string(Text(meta.created.iso8601))),
            JSONMember(key: "createdBy", value: .string(Text(meta.createdBy))),
            JSONMember(key: "modified", value: .string(Text(meta.modified.iso8601))),
            JSONMember(key: "modifiedBy", value: .string(Text(meta.modifiedBy))),
            JSONMember(key: "generation", value: .integer(meta.generation)),
            JSONMember(key: "state", value: .string(Text(try recordStates.stateName(of: meta)))),
        ]
        if place.zone.owner != .me {
            members.append(
                JSONMember(key: "owner", value: .string(Text(utf8: place.zone.owner.bytes))))
        }
        if let error = try recordStates.errorText(of: meta) {
            members.append(JSONMember(key: "error", value: .string(Text(error))))
        }
        let problems = try store.model.problems(of: meta.id)
        if !problems.isEmpty {
            members.append(
                JSONMember(key: "problems", value: .array(problems.map { JSONValue($0) })))
        }
        return JSONValue.object(members).serialized(pretty: true) + [UInt8(ascii: "\n")]
    }
}

extension JSONValue {
    static func integer(_ value: Int64) -> JSONValue {
        .number(JSONNumber(value))
    }
}
