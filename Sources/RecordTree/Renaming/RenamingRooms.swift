import RecordModel

/// The rooms that rename and remove.
struct RenamingRooms: Sendable {
    let handleMoves: HandleMoves
    let followingFiles: FollowingFiles
    let finalDeletes: FinalDeletes
    let assetRenames: AssetRenames
    let recordRenames: RecordRenames
    let renaming: Renaming
    let removing: Removing

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ namingRooms: NamingRooms, _ changeRooms: ChangeRooms
    ) {
        handleMoves = HandleMoves(ground, assetRooms)
        followingFiles = FollowingFiles(ground, scratchRooms, assetRooms)
        finalDeletes = FinalDeletes(ground, recordRooms, followingFiles: followingFiles)
        assetRenames = AssetRenames(ground, scratchRooms, assetRooms, handleMoves: handleMoves)
        recordRenames = RecordRenames(
            ground, scratchRooms, assetRooms, recordRooms, followingFiles: followingFiles,
            handleMoves: handleMoves)
        renaming = Renaming(
            ground, scratchRooms, assetRooms, shareRooms, controlRooms, namingRooms,
            assetRenames: assetRenames, recordRenames: recordRenames)
        removing = Removing(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, namingRooms,
            changeRooms, assetRenames: assetRenames)
    }
}
