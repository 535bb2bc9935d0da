import Glibc
import TestSupport
import Testing

extension MountTests {
    /// `recordfs schema init` with a real server.
    @Suite struct SchemaInitTests {
        static let container = "iCloud.org.recordfs.default"
        static let zone = "com.apple.coredata.cloudkit.zone"

        private let account: Account
        private let home: CommandLineHome

        init() async throws {
            account = try await Account()
            home = try CommandLineHome()
            try account.signIn(home)
            try home.ok(
                """
                cat > blog.json <<'END'
                {"entities": {
                    "Post": {"attributes": {
                                "title": {"type": "String"}, "read": {"type": "Boolean"},
                                "score": {"type": "Double"}, "posted": {"type": "Date"},
                                "picture": {"type": "Binary"}, "id": {"type": "UUID"},
                                "secret": {"type": "String", "encrypted": true}},
                             "relationships": {
                                "tags": {"to": "Tag", "many": true, "inverse": "posts"},
                                "author": {"to": "Author", "inverse": "posts"}}},
                    "Note": {"parent": "Post", "attributes": {"colour": {"type": "Transformable"}}},
                    "Author": {"relationships": {
                                "posts": {"to": "Post", "many": true, "inverse": "author"}}},
                    "Tag": {"relationships": {"posts": {"to": "Post", "many": true,
                                                        "inverse": "tags"}}}}}
                END
                recordfs model export blog.json -o blog.ckdb
                """)
        }

        private func serverSchema() async throws -> String {
            try await account.command("container", "schema", "export", Self.container)
        }

        /// The lines of a script's standard output and error, and its status when that is not 0.
        private func said(_ script: String) throws -> String {
            try home.ok("{ \(script); } 2>&1 || echo status $?")
        }

        @Test("the development schema is that of the model afterwards, and no record is left")
        func whole() async throws {
            #expect(
                try said("recordfs schema init blog.json") == """
                    The zone \(Self.zone) was made, and stays.
                    The development schema of \(Self.container) has all 4 record types of the \
                    model: 4 new, with 31 new fields.
                    """)
            #expect(try await serverSchema() == (try home.ok("cat blog.ckdb")) + "\n")
            try home.ok("recordfs mount")
            #expect(try home.ok("recordfs sync; ls RecordFS/private/\(Self.zone)/*") == "")
        }
    }
}
