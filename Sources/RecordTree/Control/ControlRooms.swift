import RecordModel

/// The rooms of `.recordfs`.
struct ControlRooms: Sendable {
    let conflicts: Conflicts
    let trash: TrashEntries
    let kept: KeptContents
    let moments: Moments
    let control: ControlDirectory
    let controlTexts: ControlTexts
    let controlFiles: ControlFiles
    let controlRemoval: ControlRemoval
    let commands: ControlCommands

    init(_ ground: Ground, _ recordRooms: RecordRooms, _ shareRooms: ShareRooms) {
        conflicts = Conflicts(ground)
        trash = TrashEntries(ground)
        kept = KeptContents()
        moments = Moments(ground)
        control = ControlDirectory(
            ground, recordRooms, conflicts: conflicts, moments: moments, trash: trash)
        controlTexts = ControlTexts(
            ground, recordRooms, conflicts: conflicts, kept: kept, moments: moments)
        controlFiles = ControlFiles(
            ground, conflicts: conflicts, control: control, controlTexts: controlTexts, kept: kept)
        controlRemoval = ControlRemoval(
            ground, recordRooms, conflicts: conflicts, control: control, trash: trash)
        commands = ControlCommands(ground, recordRooms, shareRooms)
    }
}
