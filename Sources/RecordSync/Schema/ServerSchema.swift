package import RecordModel
import RecordWire

/// The development schema of an account's container on a recordfs-server.
package struct ServerSchema: Sendable {
    private let transport: any SyncTransport

    package init(_ transport: any SyncTransport) { self.transport = transport }

    /// Returns the schema, or nil when the account may not read it: it is not an administrator's.
    package func read() async throws(SyncProblem) -> SchemaDocument? {
        let text: Text
        do throws(SyncProblem) {
            let body = AnswerWriter.object { _ in }
            text = try await transport.send(.schemaExport, .public, body) {
                json throws(ServerError) in try json.required("schema").string()
            }
        } catch {
            guard case .refused(let refusal) = error, refusal.code == .accessDenied else {
                throw error
            }
            return nil
        }
        do throws(RecordError) {
            return try SchemaDocument(parsing: text.utf8)
        } catch {
            throw .unreadable("schema/export: \(error)")
        }
    }

    /// Adds a schema, or nothing of it when the server has a field with another type.
    package func add(_ schema: SchemaDocument) async throws(SyncProblem) {
        let body = AnswerWriter.object { answer in
            answer.member("schema", Text(utf8: schema.print()))
            answer.member("adds", true)
        }
        _ = try await transport.send(.schemaImport, .public, body)
    }
}
