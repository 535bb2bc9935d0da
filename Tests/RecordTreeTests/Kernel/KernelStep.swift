import TestSupport

/// One step beside a kernel that remembers: a call of a program through the mount, a change from
/// elsewhere, or a question of the kernel.
enum KernelStep: Sendable, Equatable {
    /// A name in a record type of the zone.
    struct Place: Sendable, Hashable, CustomStringConvertible {
        let type: String
        let name: String
        var description: String { "\(type)/\(name)" }
    }

    enum Author: Sendable, CaseIterable { case server, command }

    /// Calls of programs. Open files stay open until `close`.
    case put(Place, String), remove(Place), rename(Place, Place), exchange(Place, Place)
    case link(Place, Place), makeDirectory(Place), removeDirectory(Place)
    case hold(Place), close, touch(Place), truncate(Place, Int)
    /// `rm .recordfs/errors/FILE` and `mv .recordfs/trash/FILE DIRECTORY`.
    case removeError(Int), restoreByMove(Place, Int)
    /// Changes from elsewhere, of records by their names in the zone.
    case receive(type: String, record: String, Int), receiveField(String, size: Int)
    case deleteThere(String)
    case save(type: String, stem: String, String), refuse(type: String, stem: String)
    case beginDelete(Place), finishDelete(Place), discardDraft(Place), renameStored(Place, String)
    case restore(type: String), makeType(Author), removeType(Author), setPermission(
        isReadOnly: Bool)
    case share(String), endShare(String)
    /// Time passes with the work of the daemon.
    case pass(Int)
    /// Questions of the kernel, and what it drops by itself.
    case look(Place), list(String), getAttributes(Place), read(Place), evict(Place), ask
}

extension KernelStep {
    static let types = ["Note", "Note", "Note", "Task"]
    static let records = ["a", "b", "x", "x:Note", "x:Task"]
    static let files = records.map { "\($0).json" }
    static let others = [
        "a@photo.jpg", "a@photo.png", "b@photo.jpg", "x@photo.jpg", "s", ".t", "s~",
    ]
    private static let texts = [
        #"{"n":1}"#, #"{"n":2}"#, #"{"n":33}"#, #"{"n":33} "#, "{", "",
    ]

    static func random(from random: inout SeededRandom) -> KernelStep {
        switch random.below(10) {
        case 0..<4: call(&random)
        case 4, 5: change(&random)
        case 6: random.below(3) == 0 ? placeChange(&random) : .pass(random.pick([1, 4, 10]))
        default: question(&random)
        }
    }

    private static func call(_ random: inout SeededRandom) -> KernelStep {
        let (place, other) = (place(&random), place(&random))
        switch random.below(23) {
        case 20, 21: return .removeError(random.below(3))
        case 22: return .restoreByMove(place, random.below(3))
        case 0..<6: return .put(place, random.pick(texts))
        case 6, 7, 8: return .remove(place)
        case 9..<13: return .rename(place, Place(type: place.type, name: other.name))
        case 13: return .rename(place, other)
        case 14: return .exchange(place, Place(type: place.type, name: other.name))
        case 15: return .link(place, other)
        case 16: return random.below(2) == 0 ? .makeDirectory(place) : .removeDirectory(place)
        case 17: return random.below(2) == 0 ? .hold(place) : .close
        case 18: return .touch(place)
        default: return .truncate(place, random.below(9))
        }
    }

    private static func change(_ random: inout SeededRandom) -> KernelStep {
        let (type, record) = (random.pick(types), random.pick(records))
        let file = Place(type: type, name: "\(random.pick(records)).json")
        switch random.below(16) {
        case 0..<4: return .receive(type: type, record: record, random.below(50))
        case 4: return .receiveField(record, size: random.below(90))
        case 5, 6: return .deleteThere(record)
        case 7, 8: return .save(type: type, stem: record, random.pick(Array(texts.prefix(4))))
        case 9: return .refuse(type: type, stem: record)
        case 10: return .beginDelete(file)
        case 11: return .finishDelete(file)
        case 12: return .discardDraft(file)
        case 13: return .renameStored(file, record)
        default: return .restore(type: type)
        }
    }

    private static func placeChange(_ random: inout SeededRandom) -> KernelStep {
        switch random.below(8) {
        case 0, 1: .makeType(random.pick(Author.allCases))
        case 2, 3: .removeType(random.pick(Author.allCases))
        case 4: .setPermission(isReadOnly: true)
        case 5: .setPermission(isReadOnly: false)
        case 6: .share(random.pick(records))
        default: .endShare(random.pick(records))
        }
    }

    private static func question(_ random: inout SeededRandom) -> KernelStep {
        switch random.below(8) {
        case 0..<3: .look(place(&random))
        case 3: .list(random.pick(types))
        case 4: .getAttributes(place(&random))
        case 5: .evict(place(&random))
        case 6: .read(place(&random))
        default: .ask
        }
    }

    private static func place(_ random: inout SeededRandom) -> Place {
        let names = random.below(3) > 0 ? files : others
        return Place(type: random.pick(types), name: random.pick(names))
    }
}
