import CTestSystem
import Dispatch
import Foundation
import Glibc
import Testing

@testable import RecordSync

/// News of the kernel about the machine's addresses. In a network of its own, which a thread enters, so that
/// nothing of the machine's is touched; root may do that.
@Suite struct NetworkWatchTests {
    private enum Failure: Error {
        case noNetwork(Int32)
        case noWatch
        case notChanged(Int32)
    }

    /// Runs `body` on a thread with a network of its own, in which nothing is up.
    private func inOwnNetwork<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Swift.Result {
                        guard test_enter_own_network() == 0 else {
                            throw Failure.noNetwork(errno)
                        }
                        return try body()
                    })
            }.start()
        }
    }

    /// Changes the calling thread's network.
    private static func addAddress() throws {
        let words = ["ip", "addr", "add", "192.0.2.1/32", "dev", "lo"]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, "ip", nil, nil, arguments, environ)
        guard code == 0 else { throw Failure.notChanged(code) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        guard status == 0 else { throw Failure.notChanged(status) }
    }

    @Test("a new address of the machine is told to who waits for the server")
    func address() async throws {
        let isTold = try await inOwnNetwork {
            let reachability = Reachability()
            let told = DispatchSemaphore(value: 0)
            reachability.onReturn { told.signal() }
            guard let watch = NetworkWatch({ reachability.noteChangedNetwork() }) else {
                throw Failure.noWatch
            }
            try Self.addAddress()
            // Long enough for a busy machine: who is told waits for none of it.
            let isTold = told.wait(timeout: .now() + 60) == .success
            withExtendedLifetime(watch) {}
            return isTold
        }
        #expect(isTold)
    }
}
