import RecordModel

/// The rooms that know nodes of all kinds.
struct NamingRooms: Sendable {
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let access: NodePermissions

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms
    ) {
        naming = Naming(ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms)
        nodeAttributes = NodeAttributes(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms)
        access = NodePermissions(
            ground, scratchRooms, recordRooms, shareRooms, nodeAttributes: nodeAttributes)
    }
}
