import TestSupport

/// One call about records in several directories, which may be open and may have a large field.
enum MoveStep: Sendable, Equatable {
    typealias Slot = Int

    case save(MovePath, Int), open(Slot, MovePath, isWriting: Bool), write(Slot, Int)
    case flush(Slot), close(Slot)
    case rename(MovePath, MovePath), exchange(MovePath, MovePath), remove(MovePath)
    case writePhoto(MovePath, String), removePhoto(MovePath)
    case remount
}

/// A name in one of the directories.
struct MovePath: Hashable, Sendable, CustomStringConvertible {
    /// Two types of one zone, a type of another zone and of another database, and a directory of
    /// this machine.
    enum Directory: String, CaseIterable, Sendable { case note, task, side, local, scratch }

    let directory: Directory
    let stem: String

    var isRecord: Bool { directory != .scratch }
    var name: String { "\(stem).json" }
    var photo: String { "\(stem)@photo.jpg" }
    var description: String { "\(directory)/\(stem)" }

    /// Returns whether a record goes from here to there without a copy.
    func reaches(_ other: MovePath) -> Bool {
        (directory == .local) == (other.directory == .local)
    }
}

extension MoveStep {
    static func random(from random: inout SeededRandom) -> MoveStep {
        let (path, other) = (path(&random), path(&random))
        let (slot, number) = (random.below(4), random.below(10))
        switch random.below(22) {
        case 0..<5: return .save(path, number)
        case 5..<8: return .open(slot, path, isWriting: random.below(3) > 0)
        case 8..<10: return .write(slot, number)
        case 10: return .flush(slot)
        case 11: return .close(slot)
        case 12..<16: return .rename(path, other)
        case 16: return .exchange(path, other)
        case 17: return .remove(path)
        case 18, 19: return .writePhoto(path, random.pick(["one", "two two", "three"]))
        case 20: return .removePhoto(path)
        default: return random.below(4) == 0 ? .remount : .rename(path, other)
        }
    }

    private static func path(_ random: inout SeededRandom) -> MovePath {
        MovePath(
            directory: random.pick(MovePath.Directory.allCases), stem: random.pick(["a", "b"]))
    }
}
