import RecordStore

/// The rooms of a tree, each built of those below it: calls go in one direction.
struct Rooms: Sendable {
    let ground: Ground
    let scratch: ScratchRooms
    let asset: AssetRooms
    let record: RecordRooms
    let share: ShareRooms
    let control: ControlRooms
    let naming: NamingRooms
    let change: ChangeRooms
    let renaming: RenamingRooms
    let request: RequestRooms

    init(store: RecordStore, options: TreeOptions) {
        let ground = Ground(store: store, options: options)
        let scratchRooms = ScratchRooms(ground)
        let assetRooms = AssetRooms(ground, scratchRooms)
        let recordRooms = RecordRooms(ground, assetRooms)
        let shareRooms = ShareRooms(ground, scratchRooms, recordRooms)
        let controlRooms = ControlRooms(ground, recordRooms, shareRooms)
        let namingRooms = NamingRooms(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms)
        let changeRooms = ChangeRooms(ground, scratchRooms, assetRooms, recordRooms, namingRooms)
        let renamingRooms = RenamingRooms(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, namingRooms,
            changeRooms)
        let requestRooms = RequestRooms(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, namingRooms,
            changeRooms, renamingRooms)
        self.ground = ground
        scratch = scratchRooms
        asset = assetRooms
        record = recordRooms
        share = shareRooms
        control = controlRooms
        naming = namingRooms
        change = changeRooms
        renaming = renamingRooms
        request = requestRooms
    }
}
