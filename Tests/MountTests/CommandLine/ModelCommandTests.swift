import Glibc
import Testing

extension MountTests {
    /// `recordfs model`, as typed.
    @Suite struct ModelCommandTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome()
            try home.ok(
                """
                cat > blog.json <<'END'
                {"entities": {
                    "Post": {"attributes": {"title": {"type": "String", "required": true}},
                             "relationships": {"tags": {"to": "Tag", "many": true,
                                                        "inverse": "posts"}}},
                    "Tag": {"relationships": {"posts": {"to": "Post", "many": true,
                                                        "inverse": "tags"}}}}}
                END
                """)
        }

        @Test("a model goes from JSON to Xcode's folder and back")
        func export() throws {
            try home.ok(
                """
                recordfs model export blog.json -o Blog.xcdatamodeld
                test -f Blog.xcdatamodeld/Blog.xcdatamodel/contents
                recordfs model export Blog.xcdatamodeld -o again.json
                recordfs model diff blog.json again.json
                """)
            #expect(
                try home.ok("recordfs model show Blog.xcdatamodeld Post") == """
                    Post
                        title: String, required
                        tags ->> Tag, inverse posts
                    """)
        }

        @Test("a model that CloudKit cannot hold is told with status 1")
        func check() throws {
            let output = try home.ok("recordfs model check blog.json 2>/dev/null || echo status $?")
            #expect(
                output == """
                    CloudKit integration requires that all attributes be optional, or have a \
                    default value set. The following attributes are marked non-optional but do not \
                    have a default value:
                    Post: title
                    status 1
                    """)
            #expect(
                try home.ok(
                    "sed -i 's/, \"required\": true//' blog.json; recordfs model check blog.json")
                    == "CloudKit can hold this model.")
        }

        @Test("the schema of a model is one that recordfs reads")
        func schema() throws {
            let types = try home.ok(
                """
                recordfs model export blog.json -o blog.ckdb
                grep -o 'RECORD TYPE [A-Za-z_]*' blog.ckdb
                echo '{}' | recordfs put local/Box/Note/a
                recordfs schema check blog.ckdb | grep -c CD_title
                """)
            #expect(types == "RECORD TYPE CD_Post\nRECORD TYPE CD_Tag\nRECORD TYPE CDMR\n2")
        }

        @Test("an option that the form cannot follow is wrong usage")
        func usage() throws {
            let output = try home.ok(
                """
                recordfs model export --configuration Cloud blog.json 2>/dev/null || echo status $?
                recordfs model export --form json -o B.xcdatamodeld blog.json 2>/dev/null || echo status $?
                ls -d B.xcdatamodeld 2>/dev/null || echo nothing is there
                """)
            #expect(output == "status 2\nstatus 2\nnothing is there")
        }

        @Test(
            "what a deployed model or schema must keep is told with status 1, and a rename by diff")
        func deployed() throws {
            let output = try home.ok(
                """
                sed -i 's/, "required": true//' blog.json
                sed 's/"title": {/"name": {"renamedFrom": "title", /' blog.json > next.json
                recordfs model export blog.json -o blog.ckdb
                for old in blog.json blog.ckdb; do
                    recordfs model check next.json --deployed $old 2>&1 || echo status $?
                done
                recordfs model check blog.json --deployed blog.ckdb
                recordfs model diff blog.json next.json 2>&1 || echo status $?
                recordfs model check blog.json --deployed nothing.json 2>&1 || echo status $?
                """)
            let header =
                "A deployed schema keeps the names of its record types and fields. The following "
                + "are renamed, so that their records and values would be left behind:"
            let end =
                "recordfs: next.json: CloudKit cannot hold this model beside what is deployed. The "
                + "reasons are above.\nstatus 1"
            #expect(
                output == """
                    \(header)
                    Post.name: was title
                    \(end)
                    \(header)
                    Post.name: was title (CD_Post.CD_title)
                    \(end)
                    CloudKit can hold this model, and it keeps what is deployed.
                    Post.name: renamed from title
                    note: CloudKit renames nothing. Where the old model is deployed, its records \
                    and values stay under the old names, and the new ones begin empty. recordfs \
                    model check --deployed tells all that a deployed model must keep.
                    status 1
                    recordfs: nothing.json: No such file or directory.
                    status 3
                    """)
        }

        @Test("what differs is told with status 1, and a wrong model with its place")
        func refused() throws {
            let output = try home.ok(
                """
                sed 's/"title"/"name"/' blog.json > other.json
                recordfs model diff blog.json other.json || echo status $?
                recordfs model show nowhere.xcdatamodeld 2>&1 || echo status $?
                echo '<model>' | recordfs model check - 2>&1 || echo status $?
                recordfs model check --configuration Cloud blog.json 2>&1 || echo status $?
                """)
            #expect(
                output == """
                    Post.name: new
                    Post.title: removed
                    status 1
                    recordfs: nowhere.xcdatamodeld: No such file or directory.
                    status 3
                    recordfs: -: line 2, column 1: this is not well-formed XML: no element found.
                    status 1
                    recordfs: Cloud: the model has no such configuration. It has none.
                    status 3
                    """)
        }
    }
}
