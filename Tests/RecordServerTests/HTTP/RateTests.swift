import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Rates") struct RateTests {
    @Test("a user who asks too often is told when to come back, and others are not slowed down")
    func users() async throws {
        let server = try await TestServer {
            $0.rates.user = RateSettings.Bucket(perSecond: 0.1, burst: 3)
        }
        for _ in 0..<3 { #expect(try await server.call(.zonesList).status == 200) }
        let refused = try await server.call(.zonesList)
        #expect(refused.status == 429)
        #expect(refused.code == "THROTTLED")
        #expect(refused.json["retryAfter"]?.int64 == 10)
        #expect(refused.headers[.retryAfter] == "10")
        #expect(try await server.call(.zonesList, as: .bob).status == 200)
        server.clock.advance(.seconds(9))
        #expect(try await server.call(.zonesList).status == 429)
        server.clock.advance(.seconds(1))
        #expect(try await server.call(.zonesList).status == 200)
        #expect(try await server.call(.zonesList).status == 429)
    }

    @Test("a clock that is set back gives no requests away and takes none")
    func clockSetBack() async throws {
        let server = try await TestServer {
            $0.rates.user = RateSettings.Bucket(perSecond: 1, burst: 2)
        }
        #expect(try await server.call(.zonesList).status == 200)
        server.clock.advance(.seconds(-30))
        #expect(try await server.call(.zonesList).status == 200)
        #expect(try await server.call(.zonesList).status == 429)
        server.clock.advance(.seconds(1))
        #expect(try await server.call(.zonesList).status == 200)
    }

    @Test("an address without a user has its own account, which users do not use up")
    func addresses() async throws {
        let server = try await TestServer {
            $0.rates.address = RateSettings.Bucket(perSecond: 1, burst: 2)
        }
        for _ in 0..<5 { #expect(try await server.call(.zonesList).status == 200) }
        for _ in 0..<2 {
            #expect(try await server.call(.zonesList, .public, as: .nobody).status == 401)
        }
        #expect(try await server.call(.zonesList, .public, as: .nobody).status == 429)
        #expect(try await server.call(.zonesList, as: .alice).status == 429)
    }

    @Test("looking up short GUIDs is limited on its own")
    func resolves() async throws {
        let server = try await TestServer {
            $0.rates.resolve = RateSettings.Bucket(perSecond: 1, burst: 2)
        }
        let body: JSONValue = [
            "shortGUIDs": [["value": "AAAAAAAAAAAAAAAAAAAAAA", "shouldFetchRootRecord": false]]
        ]
        for _ in 0..<2 {
            #expect(try await server.call(.recordsResolve, .public, body).status == 200)
        }
        #expect(try await server.call(.recordsResolve, .public, body).status == 429)
        #expect(try await server.call(.recordsAccept, .public, body).status == 429)
        #expect(try await server.call(.zonesList).status == 200)
    }

    @Test("a client of IPv6 cannot change its address to be another")
    func networks() async throws {
        let server = try await TestServer {
            $0.rates.address = RateSettings.Bucket(perSecond: 1, burst: 1)
        }
        let target = try await server.target(.zonesList, .public, as: .nobody)
        var statuses: [Int] = []
        for peer in ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"] {
            statuses.append(
                try await server.application.respond(.post, target, peer: peer).status)
        }
        #expect(statuses == [401, 429, 401])
    }
}
