/// The notices that run and those that wait. Only a few run at a time, because others decide how
/// often there is one. When very many wait, more are left out.
struct NoticeQueue {
    static let runningMax = 4
    static let waitingMax = 100

    /// The variables of the environment of a notice.
    typealias Variables = [String: String]

    enum Turn: Equatable { case now, later, never }

    private(set) var running = 0
    private(set) var waiting: [Variables] = []

    /// Decides when a notice runs. One that waits is kept.
    mutating func add(_ variables: Variables) -> Turn {
        guard running == Self.runningMax else {
            running += 1
            return .now
        }
        guard waiting.count < Self.waitingMax else { return .never }
        waiting.append(variables)
        return .later
    }

    /// Notes that a notice has run. Returns the next one, which runs in its place.
    mutating func next() -> Variables? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        running -= 1
        return nil
    }
}
