import Testing

/// A store beside a model of it, which takes random steps.
protocol StoreWalk: AnyObject {
    /// The steps so far, for the message.
    var steps: [String] { get }
    /// The places in which the store differs from the model.
    var differences: [String] { get }

    func next() throws
}

extension StoreWalk {
    /// Takes steps until the store differs from the model, and expects that it never does.
    func take(
        _ count: Int, seed: Int, _ location: SourceLocation = #_sourceLocation
    ) throws {
        for _ in 0..<count where differences.isEmpty { try next() }
        #expect(
            differences == [], "seed \(seed), after \(steps.joined(separator: "; "))",
            sourceLocation: location)
    }
}
