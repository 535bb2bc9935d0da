import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport

@testable import RecordServerCore

/// One of the services, which may be asked from anywhere.
struct TreeSender: Sendable {
    let service: RecordService
    let fixture: SharingFixture

    func answer(
        _ endpoint: Endpoint, _ scope: DatabaseScope, as user: UserRow, _ body: JSONValue
    ) async throws(ServerError) -> JSONValue {
        let bytes = try await service.answer(body, fixture.context(user, scope, endpoint))
        do {
            return try JSONParser.parse(bytes)
        } catch {
            throw ServerError(.internalError, "\(error)")
        }
    }

    /// The code of the first operation that failed.
    func modify(_ operations: [JSONValue], as viewer: UserRow?) async throws -> String? {
        let body: JSONValue = [
            "zoneID": [
                "zoneName": "Work",
                "ownerRecordName": .string(Text(utf8: fixture.alice.name.bytes)),
            ],
            "operations": .array(operations),
        ]
        let records: [JSONValue]
        do throws(ServerError) {
            let answer = try await answer(
                .recordsModify, viewer == nil ? .private : .shared, as: viewer ?? fixture.alice,
                body)
            records = answer["records"]?.array ?? []
        } catch {
            return error.code.rawValue
        }
        let codes = records.compactMap { $0["serverErrorCode"]?.string?.string }
        return codes.first { $0 != "ATOMIC_ERROR" } ?? codes.first
    }
}

extension RecordService {
    /// Another process of the same server.
    func twin(over storage: any Storage) -> RecordService {
        RecordService(
            storage: storage, assets: assets, seal: seal, settings: settings,
            push: PushHub(storage: storage))
    }
}

/// Operations on Alice's notes.
enum TreeOperation {
    static func save(_ name: String, below parent: String?) -> JSONValue {
        [
            "operationType": "forceUpdate",
            "record": [
                "recordName": JSONValue(name), "recordType": "Note",
                "parent": parent.map { ["recordName": JSONValue($0)] } ?? .null,
            ],
        ]
    }

    static func touch(_ name: String) -> JSONValue {
        [
            "operationType": "forceUpdate",
            "record": ["recordName": JSONValue(name), "recordType": "Note"],
        ]
    }

    static func delete(_ name: String) -> JSONValue {
        ["operationType": "forceDelete", "record": ["recordName": JSONValue(name)]]
    }

    /// Makes a public share of a root, which another operation saves.
    static func share(_ root: String, _ permission: String = "READ_ONLY") -> JSONValue {
        [
            "operationType": "create",
            "record": [
                "recordName": JSONValue("share-\(root)"), "recordType": "cloudkit.share",
                "publicPermission": JSONValue(permission), "participants": [],
                "forRecord": ["recordName": JSONValue(root)],
            ],
        ]
    }
}
