import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Answers that do not depend on what the operations do.
@Suite("Routes") struct RouteTests {
    @Test(
        "every operation is answered to POST in exactly the databases of the table",
        arguments: Endpoint.allCases)
    func scopes(endpoint: Endpoint) async throws {
        let server = try await TestServer()
        for scope in DatabaseScope.allCases {
            let target =
                "/database/1/iCloud.org.example.app/development/\(scope.rawValue)/"
                + endpoint.rawValue + (try await server.query(as: .alice))
            let answer = try await server.request(.post, target, body: Array("{}".utf8))
            let isRefused = answer.status == 400 && answer.text.contains("does not exist in the")
            #expect(isRefused != endpoint.scopes.contains(scope), "\(scope): \(answer.text)")
            #expect(answer.status != 404 && answer.status != 405, "\(scope): \(answer.text)")
        }
    }
}
