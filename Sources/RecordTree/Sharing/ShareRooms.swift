import RecordModel

/// The rooms of the shares.
struct ShareRooms: Sendable {
    let shareStates: ShareStates
    let shares: ShareFiles
    let shareDrafts: ShareDrafts
    let shareEnding: ShareEnding
    let shareSaving: ShareSaving
    let shareRequests: ShareCalls

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, _ recordRooms: RecordRooms) {
        shareStates = ShareStates(ground)
        shares = ShareFiles(ground, recordRooms, shareStates: shareStates)
        shareDrafts = ShareDrafts(ground, scratchRooms, shareStates: shareStates)
        shareEnding = ShareEnding(
            ground, shareDrafts: shareDrafts, shareStates: shareStates, shares: shares)
        shareSaving = ShareSaving(
            ground, scratchRooms, shareDrafts: shareDrafts, shareEnding: shareEnding,
            shareStates: shareStates, shares: shares)
        shareRequests = ShareCalls(
            ground, scratchRooms, shareDrafts: shareDrafts, shareEnding: shareEnding)
    }
}
