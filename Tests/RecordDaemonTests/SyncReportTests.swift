import RecordModel
import RecordStore
import RecordWire
import Testing

@testable import RecordDaemon
@testable import RecordSync

/// The JSON of the exchange in `recordfs status --json` and in `.recordfs/status`.
@Suite struct SyncReportTests {
    private let account = Account(
        server: "https://records.example.org", container: "iCloud.org.example.app",
        environment: .development, apiToken: "api", webAuthToken: "secret",
        user: UserName("_ada"))

    private func text(_ status: SyncStatus, clockAhead: Duration? = nil, _ store: RecordStore)
        -> String
    {
        let report = SyncReport(status, account: account, clockAhead: clockAhead, store: store)
        return String(decoding: report.json.serialized(), as: UTF8.self)
    }

    private static let head = """
        {"server":"https://records.example.org","container":"iCloud.org.example.app",\
        "environment":"development","profile":"recordfs","user":"_ada",
        """

    @Test("an idle exchange has no problems, and its tokens are not shown")
    func idle() throws {
        let daemon = try DaemonFixture()
        let status = SyncStatus(isPaused: false, needsSignIn: false, isIdle: true, problems: [])
        #expect(
            text(status, daemon.store) == Self.head + """
                "paused":false,"needsSignIn":false,"idle":true,"lastFetch":null,"nextTry":null,\
                "clockAheadSeconds":null,"downloads":[],"problems":[]}
                """)
        try daemon.close()
    }

    @Test("problems and downloads name their zones by path")
    func busy() throws {
        let daemon = try DaemonFixture()
        let zone = try daemon.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.makeZone(.private, .me, ZoneName("Kitchen")).id
        }
        let since = Timestamp(seconds: 1_700_000_000)
        var status = SyncStatus(
            isPaused: true, needsSignIn: true, isIdle: false,
            problems: [
                SyncStatus.Problem(
                    zone: zone, problem: .store(RecordError(.noSpace, "the disk is full.")),
                    since: since, failures: 3)
            ])
        status.lastFetch = since
        status.nextTry = since
        status.downloads = [DownloadProgress.Zone(zone: zone, received: 200, total: 1_000)]
        let json = try JSONParser.parse(
            Array(text(status, clockAhead: .seconds(-90), daemon.store).utf8))
        #expect(json["paused"]?.bool == true)
        #expect(json["needsSignIn"]?.bool == true)
        #expect(json["idle"]?.bool == false)
        #expect(json["lastFetch"]?.string == "2023-11-14T22:13:20.000Z")
        #expect(json["nextTry"]?.string == "2023-11-14T22:13:20.000Z")
        #expect(json["clockAheadSeconds"]?.int64 == -90)
        let problem = try #require(json["problems"]?.array?.first)
        #expect(problem["zone"]?.string == "private/Kitchen")
        #expect(problem["failures"]?.int64 == 3)
        #expect(problem["isWait"]?.bool == false)
        let download = try #require(json["downloads"]?.array?.first)
        #expect(download["zone"]?.string == "private/Kitchen")
        #expect(download["received"]?.int64 == 200)
        #expect(download["total"]?.int64 == 1_000)
        try daemon.close()
    }
}
