import ServerTestSupport
import TestSupport
import Testing

/// Runs each test of a suite with every transport: through the router, over a socket of 127.0.0.1,
/// and with two instances over one storage in turn.
///
/// It is for suites that make their server by `TestServer()`.
struct EveryTransport: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    /// A test case only: a suite's own scope holds all of its tests.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> EveryTransport? {
        testCase == nil ? nil : self
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for transport in TestServer.Transport.allCases {
            try await TestServer.$usualTransport.withValue(transport) { try await function() }
        }
    }
}

extension Trait where Self == EveryTransport {
    static var everyTransport: EveryTransport { EveryTransport() }
}
