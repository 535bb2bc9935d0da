import Foundation
import RecordModel
import RecordSync
import RecordWire
import TestSupport
import Testing

/// Where the sign-in of a store is kept.
@Suite struct AccountFileTests {
    private let folder: TemporaryDirectory
    private let file: AccountFile
    private let account = Account(
        server: "https://records.example.org", container: "c", environment: .development,
        apiToken: "a", webAuthToken: "w", user: UserName("_u"))

    init() throws {
        folder = try TemporaryDirectory()
        file = AccountFile(stateDirectory: folder.path)
    }

    @Test("an account is read as it was written, and by its user alone")
    func roundTrip() throws {
        #expect(try file.read() == nil)
        try file.update { $0 = account }
        #expect(try file.read() == account)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("the profile is kept; an account of an earlier program is one of recordfs-server")
    func profiles() throws {
        var other = account
        other.profile = .cloudkit
        try file.update { $0 = other }
        #expect(try file.read() == other)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        let old = text.replacing(#","profile":"cloudkit""#, with: "")
        #expect(old != text)
        try old.write(toFile: file.path, atomically: false, encoding: .utf8)
        #expect(try file.read() == account)
        try text.replacing("cloudkit", with: "moon")
            .write(toFile: file.path, atomically: false, encoding: .utf8)
        #expect(throws: RecordError.self) { try file.read() }
    }

    @Test("changes of many writers are all there")
    func concurrent() async throws {
        try file.update { $0 = account }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [file] in
                    for _ in 0..<25 {
                        do throws(RecordError) {
                            try file.update { (account) throws(RecordError) in
                                let longer = (account?.webAuthToken.string ?? "") + "x"
                                account?.webAuthToken = Text(longer)
                            }
                        } catch {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
        }
        #expect(try file.read()?.webAuthToken.utf8.count == 201)
    }

    @Test("a refused change leaves the file as it was; what is no account is told")
    func refusals() throws {
        try file.update { $0 = account }
        #expect(throws: RecordError.self) {
            try file.update { (account) throws(RecordError) in
                account?.server = "other"
                throw RecordError(.alreadyExists, "no")
            }
        }
        #expect(try file.read() == account)
        try "{}".write(toFile: file.path, atomically: false, encoding: .utf8)
        #expect(throws: RecordError.self) { try file.read() }
    }
}
