import RecordModel

/// The rooms of the local files.
struct ScratchRooms: Sendable {
    let scratchNodes: ScratchNodes
    let scratch: ScratchFiles
    let scratchCleaning: ScratchCleaning
    let refusedNames: RefusedNames

    init(_ ground: Ground) {
        scratchNodes = ScratchNodes(ground)
        scratch = ScratchFiles(ground, scratchNodes: scratchNodes)
        scratchCleaning = ScratchCleaning(ground, scratch: scratch)
        refusedNames = RefusedNames(ground, scratch: scratch)
    }
}
