import RecordModel
import RecordObjects

/// The objects that a machine shows, and the links between them.
struct Graph: Equatable {
    /// A to-one relationship of an object.
    struct Key: Hashable, Comparable, CustomStringConvertible {
        let object: String
        let relationship: String

        var description: String { "\(object).\(relationship)" }
        static func < (left: Self, right: Self) -> Bool { left.description < right.description }
    }

    /// A link of a many-to-many relationship.
    struct Pair: Hashable, Comparable, CustomStringConvertible {
        let book: String
        let tag: String

        var description: String { "\(book)-\(tag)" }
        static func < (left: Self, right: Self) -> Bool { left.description < right.description }
    }

    private(set) var titles: [String: String] = [:]
    /// The kinds of tags.
    private(set) var kinds: [String: String] = [:]
    private(set) var keys: [Key: String] = [:]
    private(set) var pairs: Set<Pair> = []
    private(set) var objects: Set<String> = []
    /// The to-many relationships as the texts show them.
    private(set) var lists: [Key: Set<String>] = [:]

    init(_ replica: Replica) throws {
        for type in GraphModel.types.keys.sorted() {
            for (name, text) in try replica.files(type: type) { try add(name, text, of: type) }
        }
        for (_, text) in try replica.files(type: GraphModel.linkType) { try addLink(text) }
    }

    private mutating func add(_ name: String, _ text: String, of type: String) throws {
        objects.insert(name)
        let members = try JSONParser.parse(Array(text.utf8)).object ?? []
        for member in members {
            let key = Key(object: name, relationship: member.key.string)
            if key.relationship == "title" {
                titles[name] = member.value.string?.string
            } else if key.relationship == "kind" {
                kinds[name] = member.value.string?.string
            } else if let names = member.value.array {
                lists[key] = Set(names.compactMap { $0.string?.string })
            } else if let target = member.value.string {
                keys[key] = target.string
            }
        }
    }

    private mutating func addLink(_ text: String) throws {
        let members = try JSONParser.parse(Array(text.utf8))
        let names = members["CD_recordNames"]?.string?.string.split(separator: ":").map(String.init)
        guard let names, names.count == 2 else { return }
        let isBookFirst = GraphModel.type(of: names[0]) == "Book"
        pairs.insert(
            Pair(book: names[isBookFirst ? 0 : 1], tag: names[isBookFirst ? 1 : 0]))
    }

    /// The objects in a to-many relationship, as the keys and links say.
    func members(of list: Key) -> Set<String> {
        guard let type = GraphModel.type(of: list.object),
            let relation = GraphModel.relations(of: type).first(where: {
                $0.name.description == list.relationship
            })
        else { return [] }
        if case .links = relation.form {
            let isBook = type == "Book"
            return Set(
                pairs.filter { (isBook ? $0.book : $0.tag) == list.object }
                    .map { isBook ? $0.tag : $0.book })
        }
        return Set(
            keys.filter {
                $0.value == list.object && $0.key.relationship == relation.inverse?.description
                    && GraphModel.type(of: $0.key.object) == relation.destination
            }.map(\.key.object))
    }

    // MARK: What is wrong with it

    /// The links that lead nowhere, and the sides that do not agree.
    ///
    /// - Parameter isWaiting: whether somebody has set a key to an object that was not there.
    func problems(isWaiting: (Key, _ target: String) -> Bool) -> [String] {
        var problems: [String] = []
        for (key, target) in keys.sorted(by: { $0.key < $1.key }) {
            if !objects.contains(target) {
                if !isWaiting(key, target) { problems.append("\(key) is \(target), which is gone") }
            } else if let back = Self.inverse(of: key), keys[back(target)] != key.object {
                problems.append(
                    "\(key) is \(target), whose side is \(keys[back(target)] ?? "empty")")
            }
        }
        for pair in pairs.sorted() where !objects.isSuperset(of: [pair.book, pair.tag]) {
            problems.append("the link \(pair) leads to what is gone")
        }
        for (list, shown) in lists.sorted(by: { $0.key < $1.key }) {
            // The other names wait for their objects.
            let present = shown.intersection(objects)
            guard present != members(of: list).intersection(objects) else { continue }
            problems.append(
                "\(list) shows \(shown.sorted()), and has \(members(of: list).sorted())")
        }
        return problems
    }

    /// Returns the other side of a one-to-one relationship.
    static func inverse(of key: Key) -> ((String) -> Key)? {
        switch key.relationship {
        case "cover": { Key(object: $0, relationship: "book") }
        case "book" where GraphModel.type(of: key.object) == "Cover":
            { Key(object: $0, relationship: "cover") }
        default: nil
        }
    }

    /// The differences to the graph of another machine.
    func differences(from other: Graph) -> [String] {
        var differences: [String] = []
        func compare<Place: Hashable & Comparable, Value: Equatable>(
            _ mine: [Place: Value], _ theirs: [Place: Value]
        ) {
            for place in Set(mine.keys).union(theirs.keys).sorted()
            where mine[place] != theirs[place] {
                let (mine, theirs) = (mine[place].map { "\($0)" }, theirs[place].map { "\($0)" })
                differences.append("\(place) is \(mine ?? "empty"), and not \(theirs ?? "empty")")
            }
        }
        compare(titles, other.titles)
        compare(kinds, other.kinds)
        compare(keys, other.keys)
        differences += pairs.symmetricDifference(other.pairs).sorted().map { "\($0) is a link" }
        differences += objects.symmetricDifference(other.objects).sorted().map { "\($0) exists" }
        return differences
    }
}
