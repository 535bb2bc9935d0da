import RecordModel
import RecordStore
import TestSupport
import Testing

/// To which account a store belongs.
@Suite("The owner of a store") struct StoreOwnerTests {
    private static let ada = StoreOwner(
        server: "https://records.example.org", container: "iCloud.org.example",
        environment: "production",
        user: "_ada", profile: "recordfs")
    /// Each differs in one thing.
    private static let others = [
        StoreOwner(
            server: "https://other.example.org", container: ada.container,
            environment: ada.environment, user: ada.user, profile: ada.profile),
        StoreOwner(
            server: ada.server, container: "iCloud.org.other", environment: ada.environment,
            user: ada.user, profile: ada.profile),
        StoreOwner(
            server: ada.server, container: ada.container, environment: "development",
            user: ada.user, profile: ada.profile),
        StoreOwner(
            server: ada.server, container: ada.container, environment: ada.environment,
            user: "_bob", profile: ada.profile),
        StoreOwner(
            server: ada.server, container: ada.container, environment: ada.environment,
            user: ada.user, profile: "cloudkit"),
    ]

    @Test("the first account stays that of the store, and any other is refused")
    func stays() throws {
        let folder = try TemporaryDirectory()
        let store = try RecordStore.open(directory: folder.path, options: StoreOptions())
        #expect(try store.owner() == nil)
        try store.setOwner(Self.ada)
        try store.close()
        let again = try RecordStore.open(directory: folder.path, options: StoreOptions())
        for other in Self.others {
            let error = #expect(throws: RecordError.self) { try again.setOwner(other) }
            #expect(error?.code == .alreadyExists)
        }
        try again.setOwner(Self.ada)
        #expect(try again.owner() == Self.ada)
        try again.close()
    }
}
