/// The items of two versions of a list, in pairs: by their names, or by the former name of a new one.
struct ModelPairing<Item> {
    /// The items of the new version in their order. The old item is nil for one that is new.
    let pairs: [(old: Item?, new: Item)]
    /// The items that only the old version has.
    let removed: [Item]

    init(
        _ old: [Item], _ new: [Item], name: (Item) -> String, formerName: (Item) -> String?
    ) {
        var left = Dictionary(old.map { (name($0), $0) }, uniquingKeysWith: { $1 })
        // A name that goes on by itself was not given to another.
        let kept = Set(new.filter { formerName($0) == nil }.map(name))
        let formers = Dictionary(
            old.map { (formerName($0) ?? name($0), name($0)) }, uniquingKeysWith: { $1 })
        var places = new.map { item in
            let former = formerName(item).flatMap { left[$0] == nil ? formers[$0] : $0 }
            return former.flatMap { kept.contains($0) ? nil : $0 }
        }
        // A renamed property is not there under its new name, unless another one has that name.
        let renamed = Set(places.compactMap(\.self))
        for (place, item) in new.enumerated() where places[place] == nil {
            if !renamed.contains(name(item)) { places[place] = name(item) }
        }
        var pairs: [(old: Item?, new: Item)] = []
        for (item, place) in zip(new, places) {
            pairs.append((place.flatMap { left.removeValue(forKey: $0) }, item))
        }
        self.pairs = pairs
        removed = old.filter { left[name($0)] != nil }
    }
}

extension ModelPairing<Entity> {
    /// Pairs the entities of two models.
    init(_ old: [Entity], _ new: [Entity]) {
        self.init(old, new, name: \.name, formerName: \.renamedFrom)
    }
}
