import Dispatch
import RecordModel
import Synchronization

/// Performs one request at a time beside its caller, who does something else meanwhile.
final class RequestLane: Sendable {
    private let perform: Importer.Perform
    private let queue = DispatchQueue(label: "recordfs.requests")
    private let answer = Mutex<Result<ControlReply, RecordError>?>(nil)
    private let answered = DispatchSemaphore(value: 0)

    init(_ perform: @escaping Importer.Perform) { self.perform = perform }

    /// Begins a request. `reply` has to be called before the next one.
    func send(_ request: ControlRequest) {
        queue.async { [self] in
            let result = Result { () throws(RecordError) in try perform(request) }
            answer.withLock { $0 = result }
            answered.signal()
        }
    }

    /// Waits for the answer. Errors: as the request.
    func reply() throws(RecordError) -> ControlReply {
        answered.wait()
        let result = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        guard let result else { throw RecordError(.ioFailure, "no request was sent.") }
        return try result.get()
    }
}
