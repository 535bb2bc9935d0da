import TestSupport

extension SeededRandom {
    /// Each of them or not, by chance.
    mutating func half<Element>(of all: [Element]) -> [Element] {
        var kept: [Element] = []
        for element in all where below(2) == 0 { kept.append(element) }
        return kept
    }

    /// Those about backups in one of ten histories: they take more time than all else.
    mutating func restores<Kind>(_ kinds: [Kind]) -> [Kind] { below(10) == 0 ? kinds : [] }

    /// One of them, by how often each comes in relation to the others.
    /// - Precondition: there is one whose weight is more than 0.
    mutating func pick<Element>(_ all: [Element], weight: (Element) -> Int) -> Element {
        var number = below(all.reduce(0) { $0 + weight($1) })
        for element in all {
            number -= weight(element)
            if number < 0 { return element }
        }
        preconditionFailure("nothing to pick")
    }
}
