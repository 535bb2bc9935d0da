import Glibc
import RecordControl
import RecordModel
import Synchronization

/// The pipe on which a process waits for the daemon that it has started. The daemon writes one
/// message: `R` when the directory can be used, or `E` and its failure as JSON.
package final class ReadyPipe: Sendable {
    package enum Message: Equatable {
        case ready
        case failed(MountFailure)
    }

    /// The end to write to. It is nil after the message.
    private let writing: Mutex<Int32?>

    /// - Parameter descriptor: the end to write to. The pipe closes it.
    package init(descriptor: Int32) { writing = Mutex(descriptor) }

    /// Sends the message. Further messages have no effect, because nobody waits for them.
    func send(_ message: Message) {
        let descriptor = writing.withLock { writing in
            defer { writing = nil }
            return writing
        }
        guard let descriptor else { return }
        let bytes = message.bytes
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
    }
}

extension ReadyPipe.Message {
    var bytes: [UInt8] {
        switch self {
        case .ready: [UInt8(ascii: "R")]
        case .failed(let failure):
            [UInt8(ascii: "E")]
                + failure.reason.json.adding(
                    "subject", failure.subject.map { .text($0) } ?? .null
                ).serialized()
        }
    }

    /// Reads everything that the daemon has written. Returns nil when it has ended without a
    /// message.
    package init?(_ bytes: [UInt8]) {
        switch bytes.first {
        case UInt8(ascii: "R"): self = .ready
        case UInt8(ascii: "E"):
            do throws(RecordError) {
                let value = try JSONParser.parse(Array(bytes.dropFirst()))
                self = .failed(
                    MountFailure(value.stringMember("subject"), RecordError(json: value)))
            } catch {
                self = .failed(MountFailure(nil, error))
            }
        default: return nil
        }
    }
}
