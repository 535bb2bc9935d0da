import RecordModel
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    private var invitationRows: InvitationStatements { InvitationStatements(access: self) }
    private var sharePeople: SharePeopleStatements { SharePeopleStatements(access: self) }
    private var sharedZoneRows: SharedZoneStatements { SharedZoneStatements(access: self) }
    private var shareRows: ShareStatements { ShareStatements(access: self) }

    func invitationCount(by owner: UserName, to lookup: UserLookup) throws(ServerError) -> Int {
        try invitationRows.invitationCount(by: owner, to: lookup)
    }

    func blocksInvitations(_ user: UserName, of owner: UserName) throws(ServerError) -> Bool {
        try invitationRows.blocksInvitations(user, of: owner)
    }

    func blockedOwners(_ user: UserName) throws(ServerError) -> [UserName] {
        try invitationRows.blockedOwners(user)
    }

    func setBlocksInvitations(
        _ user: UserName, of owner: UserName, _ blocks: Bool, milliseconds: Int64
    ) throws(ServerError) {
        try invitationRows.setBlocksInvitations(user, of: owner, blocks, milliseconds: milliseconds)
    }

    func putShareReport(_ report: ShareReport) throws(ServerError) {
        try sharePeople.putShareReport(report)
    }

    func shareReports(limit: Int) throws(ServerError) -> [ShareReport] {
        try sharePeople.shareReports(limit: limit)
    }

    func noteAccessRequest(_ user: UserName, milliseconds: Int64) throws(ServerError) {
        try sharePeople.noteAccessRequest(user, milliseconds: milliseconds)
    }

    func sharedZone(_ viewer: UserName, _ zone: ZoneKey) throws(ServerError) -> SharedZoneRow? {
        try sharedZoneRows.sharedZone(viewer, zone)
    }

    func sharedZones(
        _ viewer: UserName, _ container: ContainerKey
    ) throws(ServerError) -> [SharedZoneRow] {
        try sharedZoneRows.sharedZones(viewer, container)
    }

    func viewers(_ zone: ZoneKey) throws(ServerError) -> [SharedZoneRow] {
        try sharedZoneRows.viewers(zone)
    }

    func sharedZoneTombstones(
        _ viewer: UserName, _ container: ContainerKey
    ) throws(ServerError) -> [ZoneTombstone] {
        try sharedZoneRows.sharedZoneTombstones(viewer, container)
    }

    func putSharedZone(_ row: SharedZoneRow) throws(ServerError) {
        try sharedZoneRows.putSharedZone(row)
    }

    func deleteSharedZone(
        _ viewer: UserName, _ zone: ZoneKey, reason: DeletionReason
    ) throws(ServerError) {
        try sharedZoneRows.deleteSharedZone(viewer, zone, reason: reason)
    }

    func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow? {
        try shareRows.share(zone, name)
    }

    func shares(_ zone: ZoneKey) throws(ServerError) -> [ShareRow] {
        try shareRows.shares(zone)
    }

    func share(_ container: ContainerKey, shortGUID: Text) throws(ServerError) -> ShareRow? {
        try shareRows.share(container, shortGUID: shortGUID)
    }

    func share(_ container: ContainerKey, link: Text) throws(ServerError) -> ShareRow? {
        try shareRows.share(container, link: link)
    }

    func invitations(
        of user: UserRow, _ container: ContainerKey, from offset: Int, limit: Int
    ) throws(ServerError) -> [ShareRow] {
        try shareRows.invitations(of: user, container, from: offset, limit: limit)
    }

    func putShare(_ share: ShareRow) throws(ServerError) {
        try shareRows.putShare(share)
    }

    func deleteShare(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) {
        try shareRows.deleteShare(zone, name)
    }
}
