import TestSupport

/// One step in the directories above the records: zones, owners and record types, which programs,
/// the server and commands make and remove.
enum PlaceStep: Sendable, Equatable {
    /// Names below the mount point.
    typealias Path = [String]

    /// Calls of programs.
    case makeDirectory(Path), removeDirectory(Path), put(Path), remove(Path), rename(Path, Path)
    case touch(Path)
    /// Changes of the server, and of commands in zones of this user.
    case makeZone(Path), removeZone(Path, isByServer: Bool), makeType(Path, isByServer: Bool)
    case removeType(Path, isByServer: Bool), save(Path), setPermission(Path, isReadOnly: Bool)
    case share(Path, hasRoot: Bool), endShare(Path, hasRoot: Bool)
    case pass
    /// Questions of the kernel, and what it drops by itself.
    case look(Path), list(Path), evict(Path), ask
}

extension PlaceStep {
    static let zones: [Path] = [
        ["private", "Box"], ["private", "Bag"], ["shared", "olga", "Box"],
        ["shared", "olga", "Bag"],
        ["shared", "paul", "Box"],
    ]
    /// Names that no zone and no record type can have, and names of files of this machine.
    static let others: [Path] = [
        ["private", "a%zz"], ["private", "Box", "1 x"], ["shared", "nobody"], ["private", ".t"],
        ["private", "Box", ".t"], ["shared", "olga", "none"], [".Trash-7"],
    ]
    static let types = zones.flatMap { zone in ["Note", "Task"].map { zone + [$0] } }
    static let files = types.flatMap { type in ["n.json", "n@photo.jpg", "s"].map { type + [$0] } }
    static let above: [Path] = [["private"], ["shared"], ["shared", "olga"], ["shared", "paul"]]
    /// Every place, those above first.
    static let all = above + zones + others + types + files

    static func random(from random: inout SeededRandom) -> PlaceStep {
        switch random.below(10) {
        case 0, 1, 2: call(&random)
        case 3, 4, 5: change(&random)
        case 6: .pass
        default: question(&random)
        }
    }

    private static func call(_ random: inout SeededRandom) -> PlaceStep {
        let directory = random.pick(zones + others + types)
        switch random.below(10) {
        case 0, 1, 2: return .makeDirectory(directory)
        case 3, 4: return .removeDirectory(directory)
        case 5, 6: return .put(random.pick(files + others))
        case 7: return .remove(random.pick(files + others))
        case 8: return .rename(random.pick(all), random.pick(all))
        default: return .touch(random.pick(all))
        }
    }

    private static func change(_ random: inout SeededRandom) -> PlaceStep {
        let (zone, type) = (random.pick(zones), random.pick(types))
        let (isYes, isOther) = (random.below(2) == 0, random.below(2) == 0)
        switch random.below(12) {
        case 0, 1, 2: return .makeZone(zone)
        case 3: return .removeZone(zone, isByServer: isYes)
        case 4, 5: return .makeType(type, isByServer: isYes)
        case 6: return .removeType(type, isByServer: isYes)
        case 7, 8: return .save(type)
        case 9: return .setPermission(zone, isReadOnly: isYes)
        case 10: return .share(zone, hasRoot: isOther)
        default: return .endShare(zone, hasRoot: isOther)
        }
    }

    private static func question(_ random: inout SeededRandom) -> PlaceStep {
        switch random.below(6) {
        case 0, 1: .look(random.pick(all))
        case 2: .list(random.pick(above + zones + types))
        case 3: .evict(random.pick(all))
        default: .ask
        }
    }
}
