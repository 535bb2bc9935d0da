import Glibc
import TestSupport

/// One call, or one short sequence as tools make it, on names of a small set.
enum FileStep: CustomStringConvertible {
    case write(String, String)
    case createExclusive(String, String)
    case append(String, String)
    case patch(String, at: Int, String)
    case truncate(String, Int)
    case truncateOpen(String, Int)
    case openAndClose(String)
    case rewriteInTwo(String, String)
    case writeSynced(String, String)
    case atomic(String, String)
    case unlink(String)
    case unlinkAndCreate(String, String)
    case backupAndCreate(String, String)
    case undoByRename(String, String)
    case rename(String, String)
    case renameNoReplace(String, String)
    case exchange(String, String)
    case link(String, String)
    case symlink(String, String)
    case changeMode(String)
    case setModified(String, Int)
    case makeAndRemoveDirectory(String)
    case openWriteUnlink(String, String)
    case syncDirectory
    case remount

    static let names = [
        "a.json", "b.json", "c.json", "d e.json", "a.json~", ".a.json.swp", "#a.json#", "tmp1",
        "4913", "x.txt",
    ]

    static func random(_ random: inout SeededRandom) -> FileStep {
        let name = random.pick(names)
        let other = random.pick(names)
        let text = text(&random)
        switch random.below(260) {
        case 0..<30: return .write(name, text)
        case 30..<38: return .createExclusive(name, text)
        case 38..<50: return .append(name, random.pick(["\n", " ", "!", "}", "{\"z\": 1}"]))
        case 50..<62: return .patch(name, at: random.below(12), random.pick(["7", "!", " "]))
        case 62..<70: return .truncate(name, random.below(24))
        case 70..<78: return .truncateOpen(name, random.below(24))
        case 78..<86: return .openAndClose(name)
        case 86..<96: return .rewriteInTwo(name, text)
        case 96..<106: return .writeSynced(name, text)
        case 106..<122: return .atomic(name, text)
        case 122..<136: return .unlink(name)
        case 136..<146: return .unlinkAndCreate(name, text)
        case 146..<158: return .backupAndCreate(name, text)
        case 158..<166: return .undoByRename(name, text)
        case 166..<186: return .rename(name, other)
        case 186..<198: return .renameNoReplace(name, other)
        case 198..<208: return .exchange(name, other)
        case 208..<212: return .link(name, other)
        case 212..<220: return .symlink(name, "missing/\(random.below(9))")
        case 220..<226: return .changeMode(name)
        case 226..<236: return .setModified(name, 1_500_000_000 + random.below(1_000_000))
        case 236..<240: return .makeAndRemoveDirectory("sub")
        case 240..<248: return .openWriteUnlink(name, text)
        case 248..<259: return .syncDirectory
        default: return .remount
        }
    }

    private static func text(_ random: inout SeededRandom) -> String {
        let number = random.below(40)
        switch random.below(10) {
        case 0: return ""
        case 1: return "{\"n\": \(number)"
        case 2: return "{\"n\": !\(number)}"
        case 3: return "{\"n\": \(number), \"pad\": \"\(String(repeating: "p", count: 5_000))\"}"
        case 4: return "{\"title\":\"t\(number)\"}"
        default: return "{\n  \"n\": \(number),\n  \"title\": \"é\(number)\"\n}\n"
        }
    }

    var description: String {
        "\(Mirror(reflecting: self).children.first.map { "\($0.label ?? "") \($0.value)" } ?? "\(kind)")"
            .replacing(String(repeating: "p", count: 5_000), with: "<5000 p>")
    }

    private var kind: String {
        if case .syncDirectory = self { "syncDirectory" } else { "remount" }
    }
}
