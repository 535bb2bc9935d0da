import Glibc
import RecordModel
import RecordSQL
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// kill -9 of the real server between the transactions that a share needs.
@Suite("Killed while a hierarchy is shared") struct TreeKillTests {
    private static let size = 1_000

    @Test("after each kill there is no share yet or the whole of it, and the same request goes on")
    func kills() async throws {
        let data = try TemporaryDirectory()
        let access = try await KilledServer.prepare(data.path)
        try await fill(data.path, access)
        var kills = 0
        var isDone = false
        for _ in 0..<60 where !isDone {
            // Each server lives for a few commits, some of which are of its own start.
            do {
                isDone = try await shareOnce(
                    data.path, access, failpoint: "serverCommitted:\(2 + kills / 3)")
            } catch is RawHTTPError {
                kills += 1
            }
            let (shares, members) = try await counts(data.path)
            // The request may have had its effect when the server died before it could say so.
            #expect(shares == 0 && members == 0 || shares == 1 && members == Self.size + 2)
            if shares == 1 { isDone = true }
        }
        #expect(isDone && kills > 3)
        let (shares, members) = try await counts(data.path)
        #expect(shares == 1 && members == Self.size + 2)
    }

    private func fill(_ path: String, _ access: KillAccess) async throws {
        let process = try await ServerProcess.serve(data: path, arguments: KilledServer.arguments)
        var operations = [TreeOperation.save("root", below: nil)]
        for number in 0..<Self.size {
            operations.append(TreeOperation.save("c\(number)", below: "root"))
        }
        for start in stride(from: 0, to: operations.count, by: 200) {
            let part = Array(operations[start...].prefix(200))
            let isSaved = try await modify(part, process.port, access)
            #expect(isSaved)
        }
        process.signal(SIGTERM)
        #expect(try await process.wait() == 0)
    }

    /// Starts a server that dies at the failpoint, and asks it to share the hierarchy.
    private func shareOnce(
        _ path: String, _ access: KillAccess, failpoint: String
    ) async throws -> Bool {
        let process = try await ServerProcess.serve(
            data: path, arguments: KilledServer.arguments,
            environment: ["RECORDFS_FAILPOINT": failpoint])
        let isShared = try await modify(
            [TreeOperation.share("root"), TreeOperation.touch("root")], process.port, access)
        process.signal(SIGTERM)
        _ = try await process.wait()
        return isShared
    }

    private func modify(
        _ operations: [JSONValue], _ port: Int, _ access: KillAccess
    ) async throws -> Bool {
        let body: JSONValue = [
            "zoneID": ["zoneName": "Killed"], "operations": .array(operations),
        ]
        let answer = try await RawHTTP.request(
            port: port, "POST", access.target("records/modify"), body: body.serialized())
        return answer.status == 200 && !answer.text.contains("serverErrorCode")
    }

    /// How many shares there are, and how many records are members of one.
    private func counts(_ path: String) async throws -> (shares: Int?, members: Int?) {
        let database = try SQLQueue(path: path + "/records.sqlite")
        return try database.read { connection throws(RecordError) in
            (
                try connection.first("SELECT count(*) FROM shares") { Int($0.int64(0)) },
                try connection.first(
                    """
                    SELECT count(*) FROM records r JOIN trees t
                        ON t.zone = r.zone AND t.number = r.tree
                    WHERE t.share IS NOT NULL
                    """
                ) { Int($0.int64(0)) }
            )
        }
    }
}
