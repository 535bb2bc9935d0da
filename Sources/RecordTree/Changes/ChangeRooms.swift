import RecordModel

/// The rooms that follow changes which were not made through the mount.
struct ChangeRooms: Sendable {
    let touches: Touches
    let remoteChanges: RemoteChanges

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ namingRooms: NamingRooms
    ) {
        touches = Touches(ground, recordRooms, namingRooms)
        remoteChanges = RemoteChanges(ground, scratchRooms, assetRooms, recordRooms)
    }
}
