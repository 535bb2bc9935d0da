import TestSupport
import Testing

extension MountTests {
    /// Real processes: what people see of a share before they accept it.
    @Suite struct SharePreviewTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                { printf '\\211PNG\\r\\n\\032\\n'; head -c 150000 /dev/urandom; } > box.png
                { printf 'GIF89a'; head -c 300 /dev/urandom; } > cup.gif
                """)
        }

        private let file = "RecordFS/private/Kitchen/.share.json"

        /// The address of the server, with the tokens of the machine's account.
        private static let ask = """
            ask() {
                key=$(jq -r '.apiToken | @uri' .local/share/recordfs/account.json)
                token=$(jq -r '.webAuthToken | @uri' .local/share/recordfs/account.json)
                server=$(jq -r '.server' .local/share/recordfs/account.json)
                curl -sS "$server/database/1/iCloud.org.recordfs.default/development/$1?ckAPIToken=$key&ckWebAuthToken=$token" \\
                    -H 'Content-Type: application/json' --data @-
            }

            """

        @Test("who is invited sees the owner's thumbnail and type; both change and go")
        func commands() async throws {
            let link = try alice.ok(
                """
                recordfs share create private/Kitchen --with bob@localhost --type public.folder \
                    --thumbnail box.png
                """)
            #expect(
                try alice.ok("jq -c '[.type, .thumbnail.type, .thumbnail.size]' \(file)")
                    == #"["public.folder","image/png",150008]"#)
            #expect(
                try alice.ok("jq -r .thumbnail.sha256 \(file)")
                    == alice.ok("sha256sum < box.png | cut -d' ' -f1"))
            // The bytes stand in no file that people read.
            #expect(try alice.ok("test $(wc -c < \(file)) -lt 2000 && echo short") == "short")
            let place = try bob.ok("recordfs accept '\(link)'")
            let same = "recordfs share thumbnail \(place) | cmp - \(alice.folder)"
            try bob.ok("\(same)/box.png")
            #expect(try bob.ok("jq -r .type RecordFS/\(place)/.share.json") == "public.folder")
            let shown = try bob.ok("recordfs share show \(place)")
            #expect(shown.contains("type: public.folder\nthumbnail: image/png, 146.4 KiB"))
            // Something else of the share leaves them.
            try alice.ok("recordfs share set private/Kitchen --title Box")
            #expect(
                try bob.eventually(
                    "jq -c '[.title, .type]' RecordFS/\(place)/.share.json",
                    #"["Box","public.folder"]"#))
            try bob.ok("\(same)/box.png")
            try alice.ok("recordfs share set private/Kitchen --thumbnail cup.gif --no-type")
            #expect(
                try bob.eventually(
                    "jq -c '[.thumbnail.type, .type]' RecordFS/\(place)/.share.json",
                    #"["image/gif",null]"#))
            try bob.ok("\(same)/cup.gif")
            try alice.ok("recordfs share set private/Kitchen --no-thumbnail")
            #expect(
                try bob.eventually("jq -c .thumbnail RecordFS/\(place)/.share.json", "null"))
            let none = try bob.shell("recordfs share thumbnail \(place)")
            #expect(none.status != 0 && none.errors.contains("has no thumbnail"))
            #expect(try bob.shell("recordfs share set \(place) --type x").status != 0)
            try end()
        }

        @Test("the file of a share gives, keeps and takes away its thumbnail and type")
        func files() async throws {
            try alice.ok("echo '{\"type\": \"org.example.box\"}' > \(file)")
            try alice.ok(
                """
                jq --rawfile b <(base64 -w0 box.png) '.thumbnail = {"$bytes": $b}' \(file) > x
                cp x \(file)
                recordfs share thumbnail private/Kitchen -o y && cmp y box.png
                """)
            // What was read may be written.
            try alice.ok(
                "jq -S '.title = \"Box\" | {title, thumbnail, changeTag}' \(file) > x; cp x \(file)"
            )
            #expect(
                try alice.ok("jq -c '[.title, .type, .thumbnail.type]' \(file)")
                    == #"["Box","org.example.box","image/png"]"#)
            try alice.ok("recordfs share thumbnail private/Kitchen | cmp - box.png")
            let refused = try alice.shell(
                #"jq '.thumbnail = {"$bytes": "PHN2Zy8+"}' \#(file) > x; cp x \#(file)"#)
            #expect(refused.status != 0)
            #expect(
                try alice.ok("cat RecordFS/private/Kitchen/.share.error")
                    .contains("PNG, JPEG, WebP or GIF"))
            try alice.ok("rm \(file)")
            try alice.ok("jq '.thumbnail = null | .type = null' \(file) > x; cp x \(file)")
            #expect(try alice.ok("jq -c '[.thumbnail, .type]' \(file)") == "[null,null]")
            try end()
        }

        @Test("what is no picture or too large is refused in words, and shares nothing")
        func refused() async throws {
            try alice.ok(
                "echo '<svg/>' > a.png; { cat box.png; head -c 150000 /dev/zero; } > b.png")
            for (name, words) in [
                ("a.png", "PNG, JPEG, WebP or GIF"), ("b.png", "at most 256 KiB"),
                ("c.png", "No such file"), ("/dev/zero", "at most 256 KiB"),
            ] {
                let tried = try alice.shell(
                    "recordfs share create private/Kitchen --thumbnail \(name)")
                #expect(tried.status != 0 && tried.errors.contains(words), "\(tried)")
            }
            #expect(try alice.ok("recordfs shares") == "")
            for arguments in ["", "--no-type --type x", "--no-thumbnail --thumbnail box.png"] {
                #expect(
                    try alice.shell("recordfs share set private/Kitchen \(arguments)").status != 0)
            }
            try end()
        }

        @Test("another client's thumbnail shows here, also one that is no picture")
        func byProtocol() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --type old")
            let place = try bob.ok("recordfs accept '\(link)'")
            for (bytes, kind) in [("box.png", "image/png"), ("noise", "null")] {
                try alice.ok(
                    """
                    \(Self.ask)head -c 5000 /dev/urandom > noise
                    jq -n --rawfile b <(base64 -w0 \(bytes)) '{zoneID: {zoneName: "Kitchen"},
                        operations: [{operationType: "forceUpdate", record: {
                            recordName: "cloudkit.zoneshare", recordType: "cloudkit.share", fields: {
                                "cloudkit.thumbnailImageData": {value: $b, type: "BYTES"},
                                "cloudkit.type": {value: "\(kind)", type: "STRING"}}}}]}' |
                        ask private/records/modify | jq -e '.records[0].serverErrorCode == null'
                    """)
                #expect(
                    try bob.eventually(
                        "jq -r .type RecordFS/\(place)/.share.json", kind))
                #expect(
                    try bob.ok("jq -r .thumbnail.type RecordFS/\(place)/.share.json") == kind)
                try bob.ok(
                    "recordfs share thumbnail \(place) | cmp - \(alice.folder)/\(bytes)")
                #expect(try bob.ok("recordfs share show \(place)").contains("thumbnail: "))
            }
            try end()
        }
    }
}
