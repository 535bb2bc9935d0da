import RecordModel
import Synchronization

/// A reader of `.recordfs/events`: its place in the stream, and the rest of a line for which its
/// last read had no room.
final class EventCursor: Sendable {
    struct State {
        var next: UInt64
        var rest: [UInt8] = []
    }
    let state: Mutex<State>
    init(next: UInt64) { state = Mutex(State(next: next)) }
}

/// The stream of events, one JSON object on each line, kept for as long as a slow reader may need.
final class EventLog: Sendable {
    private static let keptMax = 4096

    private struct State {
        var first: UInt64 = 0
        var lines: [[UInt8]] = []
        var waiting: [UInt64: WaitingReader] = [:]
        var nextWaiting: UInt64 = 0
        var isFinished = false
        /// The number of readers. Without readers nothing is kept: the stream begins at the time
        /// when its reader opened it.
        var readers = 0

        /// Removes the waiting reads that match and returns them in the order of their arrival.
        mutating func takeWaiting(_ matches: (WaitingReader) -> Bool) -> [WaitingReader] {
            let taken = waiting.filter { matches($0.value) }.sorted { $0.key < $1.key }
            for (number, _) in taken { waiting[number] = nil }
            return taken.map(\.value)
        }

        /// Removes the waiting reads for which there are bytes, and returns them with their bytes.
        /// Of several reads at one descriptor the others wait on: an answer without bytes would be
        /// the end of the stream.
        mutating func takeReady() -> [(WaitingReader, [UInt8])] {
            var ready: [(WaitingReader, [UInt8])] = []
            for (number, reader) in waiting.sorted(by: { $0.key < $1.key }) {
                guard let bytes = take(reader.cursor, reader.count) else { continue }
                waiting[number] = nil
                ready.append((reader, bytes))
            }
            return ready
        }

        /// Returns the next bytes for a reader. Returns nil where there are none yet.
        func take(_ cursor: EventCursor, _ count: Int) -> [UInt8]? {
            cursor.state.withLock { cursor in
                cursor.next = max(cursor.next, first)
                while cursor.rest.count < count, cursor.next < first + UInt64(lines.count) {
                    cursor.rest += lines[Int(cursor.next - first)]
                    cursor.next += 1
                }
                guard !cursor.rest.isEmpty else { return nil }
                let taken = Array(cursor.rest.prefix(max(count, 0)))
                cursor.rest.removeFirst(taken.count)
                return taken
            }
        }
    }

    private struct WaitingReader {
        let cursor: EventCursor
        let count: Int
        let answer: DeferredAnswer
    }

    private let clock: any WallClock
    private let state = Mutex(State())

    init(clock: any WallClock) { self.clock = clock }

    func open() -> EventCursor {
        state.withLock { state in
            state.readers += 1
            return EventCursor(next: state.first + UInt64(state.lines.count))
        }
    }

    var hasReaders: Bool { state.withLock { $0.readers > 0 } }

    /// The number of lines that are kept for readers.
    var kept: Int { state.withLock { $0.lines.count } }

    func append(_ members: [JSONMember]) {
        guard hasReaders else { return }
        let time = JSONMember(key: "time", value: .string(Text(clock.now.iso8601)))
        let line = JSONValue.object([time] + members).serialized() + [UInt8(ascii: "\n")]
        let ready = state.withLock { state in
            guard state.readers > 0 else { return [(WaitingReader, [UInt8])]() }
            state.lines.append(line)
            if state.lines.count > 2 * Self.keptMax {
                state.lines.removeFirst(Self.keptMax)
                state.first += UInt64(Self.keptMax)
            }
            return state.takeReady()
        }
        for (waiting, bytes) in ready { waiting.answer(.success(.bytes(bytes))) }
    }

    /// Notes a failure that no caller receives.
    func note(failure: RecordError, of subject: String) {
        append([
            JSONMember(key: "event", value: .string("failure")),
            JSONMember(key: "subject", value: .string(Text(subject))),
            JSONMember(key: "error", value: .string(Text("\(failure)"))),
        ])
    }

    func read(_ cursor: EventCursor, count: Int) -> ReadResult {
        guard count > 0 else { return .bytes([]) }
        if let bytes = state.withLock({ $0.take(cursor, count) }) { return .bytes(bytes) }
        return .deferred { [self] answer in
            let (number, bytes) = state.withLock { state -> (UInt64?, [UInt8]) in
                if let bytes = state.take(cursor, count) { return (nil, bytes) }
                if state.isFinished { return (nil, []) }
                state.nextWaiting += 1
                state.waiting[state.nextWaiting] = WaitingReader(
                    cursor: cursor, count: count, answer: answer)
                return (state.nextWaiting, [])
            }
            guard let number else {
                answer(.success(.bytes(bytes)))
                return Waiting {}
            }
            return Waiting { [self] in state.withLock { _ = $0.waiting.removeValue(forKey: number) }
            }
        }
    }

    /// Ends the reads of a reader that has closed the stream.
    func close(_ cursor: EventCursor) {
        let ended = state.withLock { state in
            state.readers -= 1
            if state.readers == 0 {
                state.first += UInt64(state.lines.count)
                state.lines = []
            }
            return state.takeWaiting { $0.cursor === cursor }
        }
        for waiting in ended { waiting.answer(.success(.bytes([]))) }
    }

    /// Ends the stream for all waiting readers when the mount ends.
    func finish() {
        let ended = state.withLock { state in
            state.isFinished = true
            return state.takeWaiting { _ in true }
        }
        for waiting in ended { waiting.answer(.success(.bytes([]))) }
    }
}
