import RecordModel

/// The rooms of the large fields.
struct AssetRooms: Sendable {
    let assets: OpenAssets
    let readers: FieldReaders
    let moves: FieldMoves
    let fields: FieldFiles
    let assetContent: AssetContent
    let fetching: AssetFetching
    let assetSaving: AssetSaving
    let assetFiles: AssetNodes
    let assetChanges: AssetChanges

    init(_ ground: Ground, _ scratchRooms: ScratchRooms) {
        assets = OpenAssets(ground)
        readers = FieldReaders(ground)
        moves = FieldMoves(ground)
        fields = FieldFiles(ground, scratchRooms, assets: assets, moves: moves)
        assetContent = AssetContent(ground)
        fetching = AssetFetching(ground, assetContent: assetContent)
        assetSaving = AssetSaving(
            ground, assetContent: assetContent, assets: assets, readers: readers)
        assetFiles = AssetNodes(
            ground, assetContent: assetContent, assetSaving: assetSaving, assets: assets,
            fetching: fetching, fields: fields, readers: readers)
        assetChanges = AssetChanges(ground, scratchRooms, assets: assets)
    }
}
