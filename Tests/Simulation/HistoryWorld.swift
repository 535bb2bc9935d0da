import RecordSync
import RecordWire
import TestSupport

/// The world of a history, as its steps go on.
protocol HistoryWorld: Actor {
    associatedtype NumberedStep: HistoryStep
    /// The things that have happened, for a run of the same history to compare with.
    var trace: [String] { get }
    func perform(_ step: NumberedStep) async throws
    /// Returns what is wrong, since the last call.
    func takeProblems() -> [String]
    /// All machines fetch and send until nothing moves any more. Returns what is wrong then.
    func finish() async throws -> [String]
}

protocol HistoryStep: Sendable {
    var number: Int { get }
}

extension Simulation.Outcome {
    /// Plays steps in a new world, whose stores are in memory, until something is wrong.
    init<World: HistoryWorld>(
        playing steps: [World.NumberedStep], in makeWorld: () async throws -> World
    ) async {
        self = await TemporaryDirectory.$areInMemory.withValue(true) {
            do {
                return await Self(playing: steps, on: try await makeWorld())
            } catch {
                return Self(problems: ["No world: \(error)"], trace: [])
            }
        }
    }

    private init<World: HistoryWorld>(playing steps: [World.NumberedStep], on world: World) async {
        var problems: [String]
        do {
            for step in steps {
                try await world.perform(step)
                problems = await world.takeProblems().map { "At step \(step.number): \($0)" }
                guard problems.isEmpty else {
                    self.init(problems: problems, trace: await world.trace)
                    return
                }
            }
            problems = try await world.finish()
        } catch {
            problems = ["An error: \(error)"]
        }
        self.init(problems: problems, trace: await world.trace)
    }
}

extension SyncProblem {
    /// Returns whether it is one of what the wire of a history does to requests.
    ///
    /// - Parameter refusals: the errors of the server that a history may meet.
    func isPassing(_ refusals: [ServerErrorCode]) -> Bool {
        switch self {
        case .unreachable, .fruitless: true
        case .unreadable(let reason): reason == "cut short"
        case .refused(let error): error.code.map(refusals.contains) ?? false
        case .store: false
        }
    }
}
