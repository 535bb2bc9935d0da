import Foundation
import TestSupport

/// One call of a program, as a value: a run is a list of them, and can be run again without some.
enum TreeStep: Sendable, Equatable {
    /// A program's descriptor: 0 to 3.
    typealias Slot = Int

    /// - Parameter isBlind: whether the name has come since the kernel looked it up.
    case open(
        Slot, String, isWriting: Bool, isTruncating: Bool, isExclusive: Bool, isBlind: Bool)
    /// At an offset, or at the end.
    case write(Slot, String, at: Int?)
    case flush(Slot), synchronize(Slot), close(Slot)
    case truncate(String, Int), truncateOpen(Slot, Int)
    case rename(String, String), renameNoReplace(String, String), exchange(String, String)
    case remove(String), link(String, String)
    case makeDirectory(String), removeDirectory(String)
    case passGrace, remount
    /// Another tree opens what a kill would leave.
    case crash
}

extension TreeStep {
    /// Records, files of this machine beside them, and files in directories of this machine, where
    /// every name is free.
    static let records = ["a.json", "b.json", "c.json"]
    static let scratch = ["s", ".t", "u.bak", "d", "e"]
    static let nested = ["d/s", "d/a.json", "e/s"]

    private static let texts = [
        #"{"n":1}"#, "{ \"n\": 2 }\n", #"{"n":3,"m":4}"#, #"{"n":1}"# + "\n", "{", "[1]", "7",
        #"{"n":1}}"#, " ", "}",
    ]

    static func random(from random: inout SeededRandom) -> TreeStep {
        let slot = random.below(4)
        switch random.below(27) {
        case 0..<5:
            return .open(
                slot, name(&random), isWriting: random.below(4) > 0,
                isTruncating: random.below(2) == 0, isExclusive: random.below(6) == 0,
                isBlind: random.below(5) == 0)
        case 5..<10: return .write(slot, random.pick(texts), at: offset(&random))
        case 10, 11: return .flush(slot)
        case 12: return .synchronize(slot)
        case 13, 14: return .close(slot)
        case 15: return .truncate(name(&random), random.below(10))
        case 16: return .truncateOpen(slot, random.below(10))
        case 17..<20: return .rename(name(&random), name(&random))
        case 20: return .renameNoReplace(name(&random), name(&random))
        case 21: return .exchange(name(&random), name(&random))
        case 22, 23: return .remove(name(&random))
        case 24: return .link(name(&random), name(&random))
        case 25: return random.below(3) > 0 ? .makeDirectory(name(&random)) : .removeDirectory("d")
        default: return random.pick([.passGrace, .passGrace, .passGrace, .remount, .crash])
        }
    }

    private static func offset(_ random: inout SeededRandom) -> Int? {
        random.below(3) == 0 ? nil : random.pick([0, 0, 0, 3, 12])
    }

    private static func name(_ random: inout SeededRandom) -> String {
        switch random.below(8) {
        case 0..<4: random.pick(records)
        case 4..<7: random.pick(scratch)
        default: random.pick(nested)
        }
    }
}
