import RecordModel
import RecordServerCore
import RecordWire

extension SQLiteAccess: StorageTransaction {
    private var operatorRows: OperatorStatements { OperatorStatements(access: self) }
    private var settingRows: SettingStatements { SettingStatements(access: self) }
    private var deletedZones: DeletedZoneStatements { DeletedZoneStatements(access: self) }
    private var tombstones: TombstoneStatements { TombstoneStatements(access: self) }
    private var deletedZoneRows: ZoneTombstoneStatements { ZoneTombstoneStatements(access: self) }
    private var zoneFeeds: ZoneFeedStatements { ZoneFeedStatements(access: self) }

    private var formerStates: FormerStatements { FormerStatements(access: self) }

    func formerRecords(
        _ zone: ZoneHandle, of name: RecordName?, before position: Int64?, limit: Int,
        maximumBytes: Int
    ) throws(ServerError) -> [FormerRecord] {
        try formerStates.formerRecords(
            zone, of: name, before: position, limit: limit, maximumBytes: maximumBytes)
    }

    func putFormer(
        _ zone: ZoneHandle, _ former: FormerRecord, keeping count: Int
    ) throws(ServerError) {
        try formerStates.putFormer(zone, former, keeping: count)
    }

    func removeFormerRecords(
        before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> Bool {
        try formerStates.removeFormerRecords(before: milliseconds, limit: limit)
    }

    func databases(of owner: UserName) throws(ServerError) -> [DatabaseKey] {
        try operatorRows.databases(of: owner)
    }

    func counts(of container: Text) throws(ServerError) -> ContainerCounts {
        try operatorRows.counts(of: container)
    }

    func removeUser(_ user: UserName) throws(ServerError) {
        try operatorRows.removeUser(user)
    }

    func removeContainer(_ name: Text) throws(ServerError) {
        try operatorRows.removeContainer(name)
    }

    func numberedShareReports(limit: Int) throws(ServerError) -> [(number: Int64, ShareReport)] {
        try operatorRows.numberedShareReports(limit: limit)
    }

    func removeShareReport(_ number: Int64) throws(ServerError) -> Bool {
        try operatorRows.removeShareReport(number)
    }

    func setting(_ name: String) throws(ServerError) -> [UInt8]? {
        try settingRows.setting(name)
    }

    func putSetting(_ name: String, _ value: [UInt8]) throws(ServerError) {
        try settingRows.putSetting(name, value)
    }

    func firstPosition() throws(ServerError) -> Int64 {
        try settingRows.firstPosition()
    }

    func containers() throws(ServerError) -> [Text] {
        try settingRows.containers()
    }

    func createContainer(_ name: Text) throws(ServerError) {
        try settingRows.createContainer(name)
    }

    func schema(_ container: ContainerKey) throws(ServerError) -> SchemaRow? {
        try settingRows.schema(container)
    }

    func putSchema(_ container: ContainerKey, _ schema: SchemaRow) throws(ServerError) {
        try settingRows.putSchema(container, schema)
    }

    func roles(_ container: ContainerKey, of user: UserName) throws(ServerError) -> [String] {
        try settingRows.roles(container, of: user)
    }

    func putRoles(
        _ container: ContainerKey, of user: UserName, _ roles: [String]
    ) throws(ServerError) {
        try settingRows.putRoles(container, of: user, roles)
    }

    func erase(_ container: ContainerKey, reason: DeletionReason) throws(ServerError) {
        try settingRows.erase(container, reason: reason)
    }

    func sweepDeletedZones(limit: Int) throws(ServerError) -> Bool {
        try deletedZones.sweepDeletedZones(limit: limit)
    }

    func zoneWithTombstones(after handle: ZoneHandle?) throws(ServerError) -> ZoneRow? {
        try tombstones.zoneWithTombstones(after: handle)
    }

    func lastTombstone(_ zone: ZoneHandle, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Int64?
    {
        try tombstones.lastTombstone(zone, before: milliseconds, limit: limit)
    }

    func lastTombstone(_ zone: ZoneHandle, beforeNewest count: Int, limit: Int)
        throws(ServerError) -> Int64?
    {
        try tombstones.lastTombstone(zone, beforeNewest: count, limit: limit)
    }

    func trimZoneTombstones(ofDatabase number: Int64) throws(ServerError) {
        try deletedZoneRows.trimZoneTombstones(ofDatabase: number)
    }

    func sweepZoneTombstones(
        now: Int64, before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> Bool {
        try deletedZoneRows.sweepZoneTombstones(now: now, before: milliseconds, limit: limit)
    }

    func zoneFeed(_ database: DatabaseKey) throws(ServerError) -> ZoneFeed? {
        try zoneFeeds.zoneFeed(database)
    }

    func zoneChanges(
        _ database: DatabaseKey, after position: Int64, start: Int64, limit: Int
    ) throws(ServerError) -> [ZoneChange] {
        try zoneFeeds.zoneChanges(database, after: position, start: start, limit: limit)
    }

    func advanceFeed(ofDatabase number: Int64) throws(ServerError) {
        try zoneFeeds.advanceFeed(ofDatabase: number)
    }
}
