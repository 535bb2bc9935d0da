import TestSupport

/// One step around files that stay open for reading: a call of a program, or a change from
/// elsewhere. Each text has one number.
enum VersionStep: Sendable, Equatable {
    typealias Slot = Int

    case open(Slot, String), close(Slot)
    /// `>` writes into the file, and a rename puts another file in its place.
    case put(String, Int), replace(String, Int), rename(String, String), remove(String)
    /// The server, which has everything from here before, and commands.
    case receive(String, Int), deleteThere(String), save(String, Int), delete(String)
    case pass

    private static let names = ["a", "b", "c"]

    static func random(from random: inout SeededRandom) -> VersionStep {
        let (name, number, slot) = (random.pick(names), random.below(4), random.below(5))
        switch random.below(20) {
        case 0..<5: return .open(slot, name)
        case 5: return .close(slot)
        case 6, 7, 8: return .put(name, number)
        case 9, 10: return .replace(name, number)
        case 11, 12: return .rename(name, random.pick(names))
        case 13: return .remove(name)
        case 14, 15: return .receive(name, number)
        case 16: return .deleteThere(name)
        case 17: return .save(name, number)
        case 18: return .delete(name)
        default: return .pass
        }
    }
}

/// The files under the names and in the hands of readers. What a program writes is one text in one
/// file. What comes from elsewhere is another file.
struct VersionModel {
    struct Text: Equatable {
        let number: Int
        /// Indicates whether the server made it: it is printed with spaces.
        let isPrinted: Bool
    }

    private(set) var files: [Int: Text] = [:]
    private(set) var names: [String: Int] = [:]
    private(set) var readers: [VersionStep.Slot: Int] = [:]
    /// Names whose records were renamed: what the server says of them follows the record.
    private var givenUp: Set<String> = []
    private var next = 0

    private mutating func bring(_ name: String, _ number: Int, isPrinted: Bool = false) {
        files[next] = Text(number: number, isPrinted: isPrinted)
        names[name] = next
        next += 1
    }

    /// Takes a step. Returns whether it can be taken.
    mutating func apply(_ step: VersionStep) -> Bool {
        switch step {
        case .open(let slot, let name):
            guard readers[slot] == nil, let file = names[name] else { return false }
            readers[slot] = file
        case .close(let slot): return readers.removeValue(forKey: slot) != nil
        case .put(let name, let number):
            if let file = names[name] {
                files[file] = Text(number: number, isPrinted: false)
            } else {
                bring(name, number)
            }
        case .replace(let name, let number): bring(name, number)
        case .rename(let name, let other):
            guard name != other, let file = names.removeValue(forKey: name) else { return false }
            names[other] = file
            givenUp.insert(name)
        case .receive(let name, _) where names[name] == nil && givenUp.contains(name):
            return false
        case .receive(let name, let number):
            // The server knows no layout, and the same text is no other file.
            let there = names[name].flatMap { files[$0] }
            if there?.number == number { return true }
            bring(name, number, isPrinted: there?.isPrinted ?? true)
        case .save(let name, let number):
            if names[name].flatMap({ files[$0] }) == Text(number: number, isPrinted: false) {
                return true
            }
            bring(name, number)
        case .remove(let name), .deleteThere(let name), .delete(let name):
            return names.removeValue(forKey: name) != nil
        case .pass: break
        }
        return true
    }
}
