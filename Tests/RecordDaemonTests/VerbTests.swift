import RecordModel
import RecordTree
import Testing

@testable import RecordDaemon

/// The verbs of commands and of `.recordfs/ctl`, without a mount and without a server.
@Suite struct VerbTests {
    /// The code with which each verb is refused while nobody is signed in. Nil when it is done.
    static func refusal(of verb: ControlVerb) -> RecordError.Code? {
        switch verb {
        case .flush, .account: nil
        case .sync, .pause, .resume, .retry: .unsupported
        // Nothing is mounted.
        case .shutdown: .ioFailure
        }
    }

    @Test(
        "while nobody is signed in, verbs of the exchange say so",
        arguments: ControlVerb.allCases)
    func signedOut(verb: ControlVerb) throws {
        let daemon = try DaemonFixture()
        let code = daemon.refusal { () throws(RecordError) in
            _ = try daemon.verbs.run(verb, waits: true)
        }
        #expect(code == Self.refusal(of: verb))
        #expect(daemon.sync.status == nil)
        try daemon.close()
    }

    @Test("a read-only mount has no exchange", arguments: [ControlVerb.sync, .pause, .retry])
    func readOnly(verb: ControlVerb) throws {
        let daemon = try DaemonFixture(isReadOnly: true)
        let code = daemon.refusal { () throws(RecordError) in
            _ = try daemon.verbs.run(verb, waits: true)
        }
        #expect(code == .readOnly)
        let error = #expect(throws: RecordError.self) { try daemon.verbs.run(verb, waits: true) }
        #expect(error?.message.contains("without --read-only") == true)
        try daemon.close()
    }

    @Test("a line of ctl is refused while nobody is signed in")
    func lines() throws {
        let daemon = try DaemonFixture()
        let exchange = ServerBridge(daemon.sync, daemon.verbs)
        #expect(exchange.status() == nil)
        for verb in ControlVerb.allCases where verb.traits.contains(.isLine) {
            #expect(throws: ServerBridge.noServer) { try exchange.run(verb) }
        }
        try daemon.close()
    }

    @Test("ctl accepts sync, pause, resume and retry only")
    func traits() {
        let lines = ControlVerb.allCases.filter { $0.traits.contains(.isLine) }
        #expect(lines == [.sync, .pause, .resume, .retry])
        let quiet = ControlVerb.allCases.filter { !$0.traits.contains(.mayChangeFiles) }
        #expect(quiet == [.flush, .shutdown])
    }
}
