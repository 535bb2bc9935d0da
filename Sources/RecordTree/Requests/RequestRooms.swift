import RecordModel

/// The rooms for the requests of the kernel, and for the work that depends on time.
struct RequestRooms: Sendable {
    let lookup: Lookup
    let typeListing: TypeListing
    let listing: Listing
    let opening: Opening
    let handleRequests: HandleRequests
    let directories: Directories
    let attributeChanges: AttributeSetting
    let extendedAttributes: ExtendedAttributes
    let space: FileSystemSpace
    let maintenance: TimedWork

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ namingRooms: NamingRooms, _ changeRooms: ChangeRooms, _ renamingRooms: RenamingRooms
    ) {
        lookup = Lookup(ground, scratchRooms, recordRooms, namingRooms, changeRooms)
        typeListing = TypeListing(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, namingRooms)
        listing = Listing(
            ground, scratchRooms, shareRooms, controlRooms, namingRooms, typeListing: typeListing)
        opening = Opening(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, namingRooms,
            changeRooms, renamingRooms)
        handleRequests = HandleRequests(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, renamingRooms)
        directories = Directories(
            ground, scratchRooms, recordRooms, controlRooms, namingRooms,
            handleRequests: handleRequests, opening: opening)
        attributeChanges = AttributeSetting(
            ground, scratchRooms, assetRooms, recordRooms, controlRooms, namingRooms)
        extendedAttributes = ExtendedAttributes(ground, scratchRooms, namingRooms)
        space = FileSystemSpace(ground)
        maintenance = TimedWork(
            ground, scratchRooms, assetRooms, recordRooms, shareRooms, controlRooms, renamingRooms,
            handleRequests: handleRequests)
    }
}
