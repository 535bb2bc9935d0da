import RecordModel
import RecordWire

/// The answer of records/resolve and records/accept for one short GUID
/// (CloudKit Web Services Reference, Types and Dictionaries).
struct ShareResult {
    let request: ShortGUIDRequest
    let share: ShareRow
    let zone: ZoneRow
    let user: UserRow
    let context: OperationContext
    let resources: ServiceResources

    func bytes(_ reader: any StorageReader) throws(ServerError) -> JSONBytes {
        let standing = ShareStanding(of: user, in: share, by: request.value)
        let names = [share.name] + (share.root.map { [$0] } ?? [])
        let records = try reader.records(zone.handle, names)
        guard let shareRecord = records[share.name], !shareRecord.isDeleted else {
            throw ShareRules.unknownShortGUID
        }
        let access = access(standing)
        var printer = RecordPrinter(
            resources: resources, access: access, context: context, projection: .everything,
            reader: reader)
        let printedShare = try printer.bytes(shareRecord)
        var printedRoot: JSONBytes?
        if request.shouldFetchRootRecord, let name = share.root, let root = records[name],
            !root.isDeleted
        {
            let projection = RecordProjection(desiredKeys: request.rootRecordDesiredKeys)
            var rootPrinter = RecordPrinter(
                resources: resources, access: access, context: context, projection: projection,
                reader: reader)
            printedRoot = try rootPrinter.bytes(root)
        }
        let owner = try ownerIdentity(standing, reader)
        let bytes = AnswerWriter.object { answer in
            writeHead(to: &answer, standing)
            answer.member("share", printedShare)
            answer.member("rootRecordName", share.root)
            answer.member("rootRecord", printedRoot)
            answer.member("ownerIdentity", owner)
            answer.member("participantType", standing.type.rawValue)
            answer.member("participantStatus", standing.status.rawValue)
            answer.member("participantPermission", standing.permission(in: share).rawValue)
        }
        return JSONBytes(bytes)
    }

    private func writeHead(to answer: inout AnswerWriter, _ standing: ShareStanding) {
        answer.member(
            "shortGUID",
            object: { answer in
                answer.member("value", request.value)
                answer.member("shouldFetchRootRecord", request.shouldFetchRootRecord)
                if let keys = request.rootRecordDesiredKeys {
                    answer.member("rootRecordDesiredKeys", keys)
                }
            })
        answer.member("containerIdentifier", context.container.container)
        answer.member("environment", context.container.environment.rawValue)
        answer.member("databaseScope", standing == .owner ? "PRIVATE" : "SHARED")
        answer.member(
            "zoneID",
            ZoneIdentifier(zone: share.zone.zone, owner: share.zone.database.owner))
    }

    /// Returns the access to the share as its owner has it, or as a user who has only this share.
    private func access(_ standing: ShareStanding) -> ZoneAccess {
        if standing == .owner { return ZoneAccess(zone: zone, view: .owner, user: user) }
        let row = SharedZoneRow(
            viewer: user.name, zone: share.zone, incarnation: 0, shares: [share.name])
        let permissions = [share.name: standing.permission(in: share)]
        return ZoneAccess(
            zone: zone, view: .participant(row, permissions: permissions), user: user,
            roots: Set(share.root.map { [$0] } ?? []))
    }

    /// Returns the identity of the owner. An invited person learns the address of the owner; a
    /// visitor gets the name only.
    private func ownerIdentity(_ standing: ShareStanding, _ reader: any StorageReader)
        throws(ServerError) -> JSONValue
    {
        let knowsAddress =
            switch standing {
            case .owner: true
            case .participant(let row): row.type != .publicUser
            case .visitor, .stranger: false
            }
        return try UserIdentity(
            owner: share.zone.database.owner, showsAddress: knowsAddress, reader
        ).json
    }
}
