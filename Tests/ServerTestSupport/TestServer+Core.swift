package import RecordModel
package import RecordServerCore
package import RecordWire
import Synchronization
import TestSupport

extension TestServer {
    /// Calls an operation without HTTP and credentials.
    package func callCore(
        _ endpoint: Endpoint, _ scope: DatabaseScope, as person: Person, _ body: JSONValue
    ) async throws(ServerError) -> JSONValue {
        let context = OperationContext(
            endpoint: endpoint, container: Self.developmentContainer, scope: scope,
            caller: try await caller(person), requestID: "core", now: clock.now,
            baseURL: "http://localhost:8080")
        let answer = try await service.answer(body, context)
        do {
            return try JSONParser.parse(answer)
        } catch {
            throw ServerError(.internalError, "The answer is not JSON: \(error.description)")
        }
    }

    private static let developmentContainer = ContainerKey(
        container: container, environment: .development)

    /// The private database of a person.
    package static func database(of user: UserName) -> DatabaseKey {
        DatabaseKey(container: developmentContainer, owner: user)
    }

    private func caller(_ person: Person) async throws(ServerError) -> Caller {
        guard let name = person.user else { return .anonymous }
        if let known = callers.withLock({ $0[name] }) { return .user(known) }
        let row = try await storage.read { (reader) throws(ServerError) in
            try reader.user(name)
        }
        guard let row else { throw ServerError(.authenticationFailed, "There is no such user.") }
        callers.withLock { $0[name] = row }
        return .user(row)
    }
}
