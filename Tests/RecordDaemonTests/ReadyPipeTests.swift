import Glibc
import RecordModel
import Testing

@testable import RecordDaemon

/// The message of a daemon to the process that has started it.
@Suite struct ReadyPipeTests {
    private func received(_ body: (ReadyPipe) -> Void) throws -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        body(ReadyPipe(descriptor: ends[1]))
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        // The end of the pipe: it is closed with the message.
        #expect(read(ends[0], &bytes, 1) == 0)
        return Array(bytes.prefix(max(0, count)))
    }

    @Test("R says that the directory can be used")
    func ready() throws {
        let bytes = try received { $0.send(.ready) }
        #expect(bytes == Array("R".utf8))
        #expect(ReadyPipe.Message(bytes) == .ready)
    }

    @Test("E and JSON say why there is no mount")
    func failed() throws {
        let failure = MountFailure("/home/ada/RecordFS", RecordError(.notFound, "is not there."))
        let bytes = try received { $0.send(.failed(failure)) }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                E{"code":"notFound","message":"is not there.","subject":"/home/ada/RecordFS"}
                """)
        #expect(ReadyPipe.Message(bytes) == .failed(failure))
        let unnamed = MountFailure(
            nil,
            RecordError(
                .invalidJSON, "no text", at: TextPosition(line: 2, column: 3, offset: 9)))
        #expect(ReadyPipe.Message(ReadyPipe.Message.failed(unnamed).bytes) == .failed(unnamed))
    }

    @Test("only the first message is sent")
    func once() throws {
        let failure = MountFailure(nil, RecordError(.ioFailure, "the disk is gone."))
        let bytes = try received { pipe in
            pipe.send(.ready)
            pipe.send(.failed(failure))
        }
        #expect(bytes == Array("R".utf8))
    }

    @Test("a daemon that has ended has sent nothing, and a torn message is a failure")
    func broken() {
        #expect(ReadyPipe.Message([]) == nil)
        guard case .failed(let failure) = ReadyPipe.Message(Array("E{\"code\"".utf8)) else {
            Issue.record("a torn message is no failure")
            return
        }
        #expect(failure.reason.code == .invalidJSON)
    }
}
