import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What callers may make the server hold, and who is refused before anything of theirs is read.
@Suite("Memory of requests") struct MemoryTests {
    @Test("whoever may not use an operation is told so before the body")
    func authorizedFirst() async throws {
        let server = try await TestServer(.socket)
        let path = "/database/1/\(TestServer.container)/development"
        let token = "ckAPIToken=\(TestServer.apiTokens[0])"
        let people = try await server.query(as: .alice)
        let calls: [(target: String, headers: String, status: Int)] = [
            (
                "\(path)/public/records/query?ckAPIToken=\(String(repeating: "0", count: 64))", "",
                401
            ),
            ("\(path)/private/records/modify?\(token)", "", 421),
            ("\(path)/public/records/modify?\(token)", "", 421),
            ("\(path)/public/records/query?\(token)&ckWebAuthToken=wrong", "", 421),
            ("\(path)/public/schema/import\(people)", "", 403),
            ("\(path)/public/changes/zone\(people)", "", 400),
            (
                "\(path)/public/records/query",
                "X-Apple-CloudKit-Request-KeyID: \(String(repeating: "0", count: 64))\r\n"
                    + "X-Apple-CloudKit-Request-ISO8601Date: 2027-01-15T08:00:00Z\r\n"
                    + "X-Apple-CloudKit-Request-SignatureV1: AAAA\r\n", 401
            ),
            // Who has no user asks for little.
            ("\(path)/public/records/query?\(token)", "", 413),
        ]
        for call in calls {
            let answer = try await server.raw { port in
                let connection = try RawConnection(port: port)
                try connection.send(
                    "POST \(call.target) HTTP/1.1\r\nHost: localhost\r\n\(call.headers)"
                        + "Content-Length: 4000000\r\n\r\n")
                return try connection.readAnswer()
            }
            #expect(answer?.status == call.status, "\(call.target): \(answer?.text ?? "")")
        }
    }

    @Test("small bodies of callers without a user are read as ever", .everyTransport)
    func anonymous() async throws {
        let server = try await TestServer()
        let answer = try await server.call(
            .recordsLookup, .public, as: .anonymous, ["records": [["recordName": "a"]]])
        #expect(answer.status == 200)
    }

    @Test("values that take more memory than there is are refused before they are made")
    func manyValues() async throws {
        let server = try await TestServer { $0.limits.memoryBytes = 8 << 20 }
        func send(_ item: String) async throws -> TestServer.Answer {
            let count = 2_000_000 / item.utf8.count
            let body = "{\"operations\":[" + String(repeating: item, count: count) + "0]}"
            return try await server.request(
                .post, try await server.target(.recordsModify), body: Array(body.utf8))
        }
        for item in ["0,", "[0],", "{},", "\"\","] {
            let answer = try await send(item)
            #expect(answer.status == 413, "\(item)")
            #expect(answer.code == "LIMIT_EXCEEDED")
        }
        // The same bytes as one text are no more than they are.
        let text = String(repeating: "[0],", count: 200_000)
        let saved = try await server.modify(nil, create("a", ["t": RecordServerTests.text(text)]))
        #expect(saved.results == ["saved"])
    }

    @Test("answers are held until the client has taken them; small requests go on")
    func answers() async throws {
        let server = try await TestServer(.socket) {
            $0.limits.memoryBytes = 16 << 20
            $0.limits.writeIdleSeconds = 3_600
        }
        let long = String(repeating: "x", count: 900_000)
        for name in ["a", "b", "c"] {
            let made = try await server.modify(nil, create(name, ["t": text(long)]))
            #expect(made.results == ["saved"])
        }
        let names = (0..<14).map {
            ["recordName": JSONValue(["a", "b", "c"][$0 % 3])] as JSONValue
        }
        let body = (["records": .array(names)] as JSONValue).serialized()
        let target = try await server.target(.recordsLookup)
        // 13 MB: more than the sockets of both sides take, with a small one here.
        let slow = try await server.raw { port in
            let connection = try RawConnection(port: port, receiveBuffer: 4_096)
            try connection.send(
                Array(
                    "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n"
                        .utf8) + body)
            _ = try connection.readPiece()
            return connection
        }
        let refused = try await server.call(.recordsLookup, .private, ["records": .array(names)])
        #expect(refused.status == 503)
        #expect(refused.code == "TRY_AGAIN_LATER")
        #expect(refused.json["retryAfter"]?.int64 != nil)
        #expect(try await server.lookup(nil, "nothing").status == 200)
        #expect(try await server.modify(nil, create("d")).results == ["saved"])
        slow.reset()
        let clock = ContinuousClock()
        let end = clock.now + .seconds(20)
        var status = 0
        while status != 200, clock.now < end {
            status = try await server.call(.recordsLookup, .private, ["records": .array(names)])
                .status
        }
        #expect(status == 200)
    }

    @Test("what a request holds is given back when it is gone")
    func budget() throws {
        let budget = MemoryBudget(bytes: 1_000_000)
        let free = MemoryBudget.freeBytes
        do {
            let first = MemoryHold(budget)
            try first.set(to: free + 900_000)
            let second = MemoryHold(budget)
            try second.set(to: free)
            #expect(throws: ServerError.self) { try second.set(to: free + 100_001) }
            try second.set(to: free + 100_000)
            try first.set(to: 5)
            try second.set(to: free + 1_000_000)
            second.force(to: free + 3_000_000)
            #expect(throws: ServerError.self) { try first.set(to: free + 1) }
        }
        try MemoryHold(budget).set(to: free + 1_000_000)
        let beyond = #expect(throws: ServerError.self) {
            try MemoryHold(budget).set(to: free + 1_000_001)
        }
        #expect(beyond?.code == .limitExceeded)
    }

    @Test("many small requests at once are like large ones")
    func smallRequests() throws {
        let budget = MemoryBudget(bytes: 1_000_000)
        let free = MemoryBudget.freeBytes
        var holds = try (0..<MemoryBudget.smallBytes / free).map { _ in
            let hold = MemoryHold(budget)
            try hold.set(to: free)
            return hold
        }
        let next = MemoryHold(budget)
        try next.set(to: free)
        #expect(throws: ServerError.self) { try MemoryHold(budget).set(to: 1_000_000) }
        while true {
            let hold = MemoryHold(budget)
            guard hold.hasRoom(for: free) else { break }
            holds.append(hold)
        }
        #expect(holds.count < (MemoryBudget.smallBytes + 1_000_000) / free)
        holds.removeAll()
        try MemoryHold(budget).set(to: 1_000_000)
    }
}
