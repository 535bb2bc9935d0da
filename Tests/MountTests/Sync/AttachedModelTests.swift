import TestSupport
import Testing

extension MountTests {
    /// Two machines of one account: one shows the records that Core Data makes as they are, the
    /// other has the app's model.
    @Suite struct AttachedModelTests {
        private static let zone = "RecordFS/private/com.apple.coredata.cloudkit.zone"

        /// A machine with the model attached, and one without.
        private func machines(_ account: Account) throws -> (
            model: CommandLineHome, plain: CommandLineHome
        ) {
            let (model, plain) = (try account.machine(), try account.machine())
            try model.ok(
                """
                recordfs unmount
                cat > shop.json <<'END'
                {"entities": {
                    "Article": {"attributes": {"title": {"type": "String"},
                                               "isNew": {"type": "Boolean"},
                                               "price": {"type": "Decimal"},
                                               "added": {"type": "Date"}},
                                "relationships": {"shelf": {"to": "Shelf", "inverse": "articles"},
                                                  "photos": {"to": "Photo", "many": true,
                                                             "inverse": "article",
                                                             "onDelete": "Cascade"}}},
                    "Photo": {"attributes": {"caption": {"type": "String"}},
                              "relationships": {"article": {"to": "Article", "inverse": "photos"}}},
                    "Book": {"parent": "Article", "attributes": {"pages": {"type": "Integer 32"}}},
                    "Shelf": {"attributes": {"name": {"type": "String"}},
                              "relationships": {"articles": {"to": "Article", "many": true,
                                                             "inverse": "shelf"}}}}}
                END
                recordfs model attach shop.json
                recordfs mount
                """)
            return (model, plain)
        }

        @Test("objects and records are two views of one thing, in both directions")
        func views() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try model.ok(
                """
                mkdir -p \(Self.zone)/Book \(Self.zone)/Shelf && cd \(Self.zone)
                echo '{"name": "Top"}' > Shelf/S1.json
                printf '{"title": "Soup", "isNew": true, "price": "12.50", "pages": 3, "shelf": "S1",
                  "added": "2026-11-20T10:00:00.000Z"}\\n' > Book/B1.json
                recordfs sync
                """)
            #expect(
                try model.ok("jq -c .articles \(Self.zone)/Shelf/S1.json") == #"["B1"]"#)
            try model.ok(
                """
                cd \(Self.zone) && cat Shelf/S1.json && echo '{"articles": []}' > Shelf/S2.json
                jq -c '.articles = ["B1"]' Shelf/S2.json > Shelf/new.tmp && mv Shelf/new.tmp Shelf/S2.json
                """)
            #expect(
                try model.ok(
                    "cd \(Self.zone) && jq -c .articles Shelf/S1.json && jq -r .shelf Book/B1.json")
                    == "[]\nS2")
            try model.ok(
                "cd \(Self.zone) && sed -i 's/S2/S1/' Book/B1.json && rm Shelf/S2.json && recordfs sync"
            )
            #expect(
                try plain.eventually(
                    "cd \(Self.zone) && jq -cS . CD_Article/B1.json CD_Shelf/S1.json",
                    """
                    {"CD_added":{"$timestamp":"2026-11-20T10:00:00.000Z"},"CD_entityName":"Book",\
                    "CD_isNew":1,"CD_pages":3,"CD_price":12.5,"CD_shelf":"S1","CD_title":"Soup"}
                    {"CD_entityName":"Shelf","CD_name":"Top"}
                    """))
            // The way of the app: it changes one field, and makes an object of the other entity.
            try plain.ok(
                """
                cd \(Self.zone)
                sed -i 's/Soup/Stew/' CD_Article/B1.json
                echo '{"CD_entityName": "Article", "CD_title": "Pen", "CD_isNew": 0}' \
                    > CD_Article/A1.json
                recordfs sync
                """)
            #expect(
                try model.eventually(
                    "cd \(Self.zone) && jq -cS . Book/B1.json && cat Article/A1.json && ls",
                    """
                    {"added":"2026-11-20T10:00:00.000Z","isNew":true,"pages":3,"price":"12.5",\
                    "shelf":"S1","title":"Stew"}
                    {"title": "Pen", "isNew": false}
                    Article
                    Book
                    Shelf
                    """))
            for home in [model, plain] {
                try home.ok("recordfs sync && recordfs unmount && recordfs fsck --deep")
            }
        }

        @Test("a wrong member is refused at its place, and the last good text stays")
        func refused() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try model.ok("mkdir -p \(Self.zone)/Book && echo '{}' > \(Self.zone)/Book/B1.json")
            let result = try model.shell(
                "cd \(Self.zone)/Book; echo '{\"titel\": \"x\"}' > B1.json; cat .error")
            #expect(result.output.contains("Book has no \"titel\""), "\(result)")
            #expect(result.output.contains("line 1, column 2"), "\(result)")
            let kind = try model.shell(
                "cd \(Self.zone)/Book; echo '{\"isNew\": \"yes\"}' > B1.json; cat .error")
            #expect(
                kind.output.contains("\"isNew\" takes true or false, and this is a string"),
                "\(kind)")
            #expect(!kind.output.contains("schema"), "\(kind)")
            let field = try model.shell(
                """
                cd \(Self.zone)/Book; echo x > B1@title.txt || echo refused
                echo y > B1.tmp; mv B1.tmp B1@title.txt || echo refused
                """)
            #expect(field.output == "refused\nrefused\n", "\(field)")
            try model.ok("recordfs unmount")
            try plain.ok("recordfs unmount")
        }

        @Test("a value in the asset alone is the attribute's, as soon as the model is there")
        func looseAsset() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try plain.ok(
                """
                mkdir -p \(Self.zone)/CD_Article && cd \(Self.zone)/CD_Article
                echo '{"CD_entityName": "Book", "CD_pages": 3}' > B1.json
                printf 'A long title' > B1@CD_title_ckAsset
                recordfs sync
                """)
            let file = "\(Self.zone)/Book/B1.json"
            let whole = #"{"pages":3,"title":"A long title"}"#
            #expect(try model.eventually("jq -cS . \(file)", whole))
            try model.ok(
                """
                ls \(Self.zone)/Book
                sed -i 's/A long/A short/' \(file) && recordfs sync
                """)
            let record = "\(Self.zone)/CD_Article/B1.json"
            #expect(
                try plain.eventually(
                    "jq -cS . \(record)",
                    #"{"CD_entityName":"Book","CD_pages":3,"CD_title":"A short title"}"#))
            // The other machine has had the record before it gets the model.
            try plain.ok(
                """
                cd \(Self.zone)/CD_Article
                printf 'Another title' > B1@CD_title_ckAsset
                echo '{"CD_entityName": "Book", "CD_pages": 4,
                       "CD_title_ckAsset": {"$asset": "B1@CD_title_ckAsset"}}' > B1.json
                cd && recordfs sync && recordfs unmount
                """)
            let text = try model.ok("cat shop.json")
            try plain.ok(
                """
                cat > shop.json <<'END'
                \(text)
                END
                recordfs model attach shop.json && recordfs mount && recordfs sync
                """)
            let other = #"{"pages":4,"title":"Another title"}"#
            for home in [model, plain] {
                #expect(try home.eventually("jq -cS . \(file)", other))
                #expect(try home.ok("recordfs status | grep -c 'cannot be shown' || true") == "0")
                try home.ok("recordfs unmount && recordfs fsck --deep")
            }
        }

        @Test("what a removal ends is not listed any more, and what it changes is read anew")
        func consequences() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try model.ok(
                """
                mkdir -p \(Self.zone)/Article \(Self.zone)/Shelf \(Self.zone)/Photo
                cd \(Self.zone)
                echo '{"name": "Top"}' > Shelf/S1.json
                echo '{"title": "Pen", "isNew": false, "shelf": "S1"}' > Article/A1.json
                echo '{"article": "A1"}' > Photo/P1.json
                ls Photo && cat Photo/P1.json && cat Shelf/S1.json
                rm Article/A1.json
                """)
            #expect(
                try model.eventually(
                    "cd \(Self.zone) && ls Photo; cat Photo/P1.json 2>&1; jq -c .articles Shelf/S1.json",
                    "cat: Photo/P1.json: No such file or directory\n[]"))
            try plain.ok("recordfs unmount")
            try model.ok("recordfs unmount && recordfs fsck --deep")
        }

        @Test("two shelves of a name become one, with the articles of both")
        func merged() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try model.ok(
                """
                mkdir -p \(Self.zone)/Article \(Self.zone)/Shelf && cd \(Self.zone)
                echo '{"name": "Top"}' > Shelf/S2.json
                echo '{"title": "Pen", "isNew": false, "shelf": "S2"}' > Article/A1.json
                recordfs sync
                """)
            try plain.ok("recordfs sync")
            #expect(
                try plain.eventually(
                    """
                    cd \(Self.zone) && ls CD_Shelf &&
                    echo '{"CD_entityName": "Shelf", "CD_name": "Top"}' > CD_Shelf/S1.json
                    """, "S2.json"))
            try plain.ok("recordfs sync")
            #expect(try model.eventually("ls \(Self.zone)/Shelf", "S1.json\nS2.json"))
            let rule = try model.ok(
                """
                recordfs unmount
                recordfs model dedupe Shelf name --dry-run
                recordfs model dedupe; recordfs model dedupe Shelf name; recordfs model dedupe
                """)
            try model.ok("recordfs mount")
            let zone = Self.zone.dropFirst("RecordFS/".count)
            #expect(rule == "\(zone)/Shelf/S1.json stays, without S2\nShelf: name")
            #expect(
                try model.eventually("recordfs sync; ls \(Self.zone)/Shelf", "S1.json"))
            #expect(try model.ok("jq -r .shelf \(Self.zone)/Article/A1.json") == "S1")
            try model.ok("recordfs sync")
            #expect(
                try plain.eventually(
                    "cd \(Self.zone) && ls CD_Shelf && jq -r .CD_shelf CD_Article/A1.json",
                    "S1.json\nS1"))
            let changes = try model.ok("recordfs events --author deduplication --json")
            #expect(changes.contains(#""change":"deleted""#), "\(changes)")
            let wrong = try model.shell("recordfs unmount && recordfs model dedupe Shelf nmae")
            #expect(wrong.status != 0 && wrong.errors.contains("no such attribute"), "\(wrong)")
            try plain.ok("recordfs unmount")
            try model.ok("recordfs fsck --deep")
        }

        @Test("detaching shows the records, and sends nothing")
        func detached() async throws {
            let account = try await Account()
            let (model, plain) = try machines(account)
            try model.ok(
                """
                mkdir -p \(Self.zone)/Book
                echo '{"title": "Soup", "isNew": true}' > \(Self.zone)/Book/B1.json
                recordfs sync && recordfs unmount && recordfs model detach && recordfs mount
                """)
            #expect(
                try model.ok("cd \(Self.zone) && ls && jq -cS . CD_Article/B1.json") == """
                    CD_Article
                    {"CD_entityName":"Book","CD_isNew":1,"CD_title":"Soup"}
                    """)
            #expect(
                try model.ok(
                    "jq -r .state RecordFS/.recordfs/meta/\(Self.zone.dropFirst(9))/CD_Article/B1.json"
                ) == "synced")
            try plain.ok("recordfs unmount")
            try model.ok("recordfs unmount && recordfs fsck --deep")
            let mounted = try plain.shell("recordfs mount && recordfs model attach /dev/null")
            #expect(mounted.status != 0)
            try plain.ok("recordfs unmount")
        }
    }
}
