import RecordModel
import Synchronization

/// A call that waits for bytes. It is answered once, by the fetcher or by its deadline.
final class WaitingRead: Sendable {
    let subject: String
    let type: TypeID
    /// The uptime at which the call fails. Nil for a call that needs all bytes, however long they
    /// take.
    let deadline: Duration?
    private let answer: Mutex<DeferredAnswer?>

    init(
        subject: String, type: TypeID, deadline: Duration?,
        answer: @escaping DeferredAnswer
    ) {
        self.subject = subject
        self.type = type
        self.deadline = deadline
        self.answer = Mutex(answer)
    }

    /// Returns the right to answer to the first caller, and nil to all others.
    func take() -> DeferredAnswer? {
        answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
    }
}
