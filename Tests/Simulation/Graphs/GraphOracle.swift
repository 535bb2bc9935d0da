/// What the users of all machines have done to the graph, and what must be left of it.
struct GraphOracle {
    private struct Write<Value> {
        let device: Int
        let value: Value
    }

    private var made: Set<String> = []
    /// The objects that somebody has linked to another one before they were there.
    private var awaited: Set<String> = []
    /// Their names, by the relationship.
    private var waiting: [String: Set<String>] = [:]
    /// The former and the new names of renamed objects.
    private var renamed: Set<String> = []
    /// The objects that were removed or renamed on a machine, also by a rule.
    private var removed: Set<String> = []
    /// What was wrong before the end.
    private var found: [String] = []
    private var keys: [Graph.Key: [Write<String?>]] = [:]
    private var pairs: [Graph.Pair: [Write<Bool>]] = [:]
    /// The kinds that tags have had: tags of a kind are merged.
    private var kinds: [String: Set<String>] = [:]
    private var titles: [String: [Write<String?>]] = [:]

    /// Notes what somebody has done on a machine.
    mutating func note(_ before: Graph, _ after: Graph, device: Int) {
        made.formUnion(after.objects)
        for names in after.lists.values { awaited.formUnion(names.subtracting(after.objects)) }
        for (key, target) in after.keys where !after.objects.contains(target) {
            awaited.insert(target)
            if before.keys[key] != target { waiting[key.relationship, default: []].insert(target) }
        }
        removed.formUnion(before.objects.subtracting(after.objects))
        for (name, kind) in after.kinds { kinds[name, default: []].insert(kind) }
        for key in Set(before.keys.keys).union(after.keys.keys)
        where before.keys[key] != after.keys[key] && after.objects.contains(key.object) {
            keys[key, default: []].append(Write(device: device, value: after.keys[key]))
        }
        for name in after.objects where before.titles[name] != after.titles[name] {
            titles[name, default: []].append(Write(device: device, value: after.titles[name]))
        }
        for pair in before.pairs.symmetricDifference(after.pairs) {
            pairs[pair, default: []].append(
                Write(device: device, value: after.pairs.contains(pair)))
        }
    }

    /// Returns whether somebody has set a key to an object that was not there.
    func isWaiting(_ key: Graph.Key, _ target: String) -> Bool {
        waiting[key.relationship, default: []].contains(target)
    }

    /// Notes a deletion, which ends the parts of an object, too.
    mutating func noteDeletion(_ name: String, _ before: Graph, _ after: Graph) {
        guard before.objects.contains(name) else { return }
        let pages = before.members(of: Graph.Key(object: name, relationship: "pages"))
        let left = pages.intersection(after.objects)
        if !left.isEmpty { found.append("\(name) is deleted, and its \(left.sorted()) stay") }
    }

    /// Notes an object that somebody has made without a key: of those that have been waiting for it in a
    /// one-to-one relationship, one still has it.
    mutating func noteMaking(_ name: String, _ before: Graph, _ after: Graph) {
        guard !before.objects.contains(name) else { return }
        let waiting = before.keys.filter { $0.value == name && Graph.inverse(of: $0.key) != nil }
        for (relationship, keys) in Dictionary(grouping: waiting.keys, by: \.relationship)
        where !keys.contains(where: { after.keys[$0] == name }) {
            found.append("\(name) is made, and no \(relationship) that was waiting has it")
        }
    }

    /// Notes names that somebody has taken out of a list: they are gone at once, also where two
    /// machines have linked the same objects.
    mutating func noteUnlinking(
        _ list: Graph.Key, _ names: Set<String>, _ before: Graph, _ after: Graph
    ) {
        let left = names.intersection(before.lists[list] ?? [])
            .intersection(after.lists[list] ?? [])
        if !left.isEmpty { found.append("\(list) still has \(left.sorted())") }
    }

    /// Returns what was wrong before the end, since the last call.
    mutating func takeProblems() -> [String] {
        defer { found = [] }
        return found
    }

    mutating func noteRename(_ name: String, to new: String) {
        renamed.formUnion([name, new])
    }

    /// What is wrong with the graph at the end.
    func problems(_ end: Graph) -> [String] {
        var problems = end.problems(isWaiting: isWaiting)
        let gone = made.subtracting(removed).subtracting(end.objects)
        problems += gone.filter { !isMerged($0, end) }.sorted().map {
            "\($0) is gone, and nobody has removed it"
        }
        let tags = Dictionary(grouping: end.kinds.keys) { end.kinds[$0] ?? "" }
        problems += tags.values.filter { $0.count > 1 }.map { "\($0.sorted()) are the same tag" }
        problems += end.objects.subtracting(made).sorted().map { "nobody has made \($0)" }
        for (name, writes) in titles.sorted(by: { $0.key < $1.key }) {
            guard let value = single(writes), end.titles[name] != value,
                kinds[name] == nil, !wasTaken(name)
            else { continue }
            problems.append(
                "\(name) is called \(end.titles[name] ?? "nothing"), and one machine has said "
                    + "\(value ?? "nothing")")
        }
        for (key, writes) in keys.sorted(by: { $0.key < $1.key }) {
            guard let value = single(writes), end.keys[key] != value, !removed.contains(key.object),
                !mayBeAnother(key, value)
            else { continue }
            problems.append(
                "\(key) is \(end.keys[key] ?? "empty"), and one machine has said "
                    + "\(value ?? "empty")")
        }
        for (pair, writes) in pairs.sorted(by: { $0.key < $1.key }) {
            guard let value = single(writes), end.pairs.contains(pair) != value,
                !(kinds[pair.tag] != nil && isReplaced(pair, value, end)),
                ![pair.book, pair.tag].contains(where: { wasTaken($0) || awaited.contains($0) })
            else { continue }
            problems.append("the link \(pair) is \(value ? "gone" : "there")")
        }
        return problems
    }

    /// Returns whether another tag stands for one that is gone.
    private func isMerged(_ name: String, _ end: Graph) -> Bool {
        twins(of: name).contains { end.objects.contains($0) || wasTaken($0) }
    }

    /// The other tags that may stand for a tag: those that have had a kind of it, and those that may
    /// stand for these.
    private func twins(of name: String) -> Set<String> {
        var family: Set<String> = [name]
        var mine = kinds[name, default: []]
        while true {
            let more = kinds.filter { !family.contains($0.key) && !mine.isDisjoint(with: $0.value) }
            guard !more.isEmpty else { return family.subtracting([name]) }
            family.formUnion(more.keys)
            for kinds in more.values { mine.formUnion(kinds) }
        }
    }

    /// Returns whether somebody has removed or renamed an object.
    private func wasTaken(_ name: String) -> Bool {
        removed.contains(name) || renamed.contains(name)
    }

    /// Returns whether the link of a tag that may have been merged is one of another tag now.
    private func isReplaced(_ pair: Graph.Pair, _ isThere: Bool, _ end: Graph) -> Bool {
        guard isThere else { return true }
        return twins(of: pair.tag).contains {
            let other = Graph.Pair(book: pair.book, tag: $0)
            // Or somebody has taken the other tag out of the book.
            return end.pairs.contains(other) || wasTaken($0)
                || pairs[other, default: []].contains { !$0.value }
        }
    }

    /// The last of some writes, when one machine has made all of them.
    private func single<Value>(_ writes: [Write<Value>]) -> Value? {
        Set(writes.map(\.device)).count == 1 ? writes.last?.value : nil
    }

    /// Returns whether others may have changed a key without saying so: they have linked its
    /// object before it was there, its target has gone or has another name, or the other side belongs
    /// to somebody else.
    private func mayBeAnother(_ key: Graph.Key, _ value: String?) -> Bool {
        if awaited.union(renamed).contains(key.object) { return true }
        let others = keys[key, default: []].compactMap(\.value)
        if others.contains(where: removed.contains) { return true }
        guard let back = Graph.inverse(of: key) else { return false }
        return others.contains {
            awaited.union(renamed).contains($0)
                || Set(keys[back($0), default: []].map(\.device)).count > 1
        }
    }
}
