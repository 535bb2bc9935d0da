import TestSupport
import Testing

extension MountTests {
    /// The files of a model beside the objects: raw records, the model, problems, names of
    /// members, objects of a newer version.
    @Suite struct ModelFilesTests {
        private static let zone = "RecordFS/private/com.apple.coredata.cloudkit.zone"
        private static let model = """
            cat > shop.json <<'END'
            {"entities": {
                "Article": {"attributes": {"title": {"type": "String", "maximum": 5},
                                           "price": {"type": "Decimal"},
                                           "isNew": {"type": "Boolean"},
                                           "version": {"type": "Integer 16"}},
                            "relationships": {
                                "tags": {"to": "Tag", "many": true, "inverse": "articles",
                                         "minimumCount": 2, "maximumCount": 3},
                                "shelf": {"to": "Shelf", "inverse": "articles"}}},
                "Book": {"parent": "Article", "attributes": {"pages": {"type": "Integer 32"}}},
                "Shelf": {"attributes": {"name": {"type": "String"}},
                          "relationships": {"articles": {"to": "Article", "many": true,
                                                         "inverse": "shelf"}}},
                "Tag": {"relationships": {"articles": {"to": "Article", "many": true,
                                                       "inverse": "tags"}}}}}
            END
            """

        @Test(
            "raw records and the model are files while a model is attached, and not there otherwise"
        )
        func raw() throws {
            let home = try CommandLineHome()
            #expect(
                try home.ok(
                    """
                    recordfs mount > /dev/null && mkdir -p RecordFS/private/Z/CD_Article
                    ls RecordFS/.recordfs | grep -cE 'raw|model' ; ls RecordFS/.recordfs/raw 2>&1 |
                        grep -c 'No such'
                    ls RecordFS/.recordfs/model 2>&1 | grep -c 'No such'
                    recordfs unmount
                    """) == "0\n1\n1")
            try home.ok("\(Self.model)\nrecordfs model attach shop.json && recordfs mount")
            #expect(
                try home.ok(
                    """
                    cd RecordFS/private/Z && mkdir -p Book Article Shelf Note
                    echo '{"title": "Tea", "price": "1.50", "isNew": true, "shelf": "S1"}' > Book/B1.json
                    echo '{"title": "Pen"}' > Article/A1.json; echo '{"name": "Top"}' > Shelf/S1.json
                    echo '{"n": 1}' > Note/plain.json
                    cd ../../.recordfs && ls -F raw/private/Z && ls raw/private/Z/*
                    jq -cS . raw/private/Z/CD_Article/B1.json raw/private/Z/CD_Shelf/S1.json
                    for f in $(find raw model -type f); do
                        [ $(stat -c %s $f) = $(wc -c < $f) ] || echo $f has another size
                        echo x 2>/dev/null >> $f && echo $f was written
                    done
                    cat raw/private/Z/CD_Book 2>&1 | grep -c 'No such'
                    jq -c '.entities | keys' model/model.json
                    recordfs model diff ~/shop.json model/model.json && echo same
                    rm model/model.json 2>/dev/null || echo kept
                    """) == """
                        CD_Article/
                        CD_Shelf/
                        Note/
                        raw/private/Z/CD_Article:
                        A1.json
                        B1.json

                        raw/private/Z/CD_Shelf:
                        S1.json

                        raw/private/Z/Note:
                        plain.json
                        {"CD_entityName":"Book","CD_isNew":1,"CD_price":1.5,"CD_shelf":"S1","CD_title":"Tea"}
                        {"CD_entityName":"Shelf","CD_name":"Top"}
                        1
                        ["Article","Book","Shelf","Tag"]
                        same
                        kept
                        """)
            try home.ok("recordfs unmount")
        }

        @Test("too few or too many objects are a warning, never a refusal, and go with the cause")
        func counts() throws {
            let home = try CommandLineHome()
            try home.ok("\(Self.model)\nrecordfs model attach shop.json && recordfs mount")
            #expect(
                try home.ok(
                    """
                    mkdir -p RecordFS/private/Z/{Article,Tag} && cd RecordFS/private/Z
                    for t in 1 2 3 4; do echo '{}' > Tag/T$t.json; done
                    ls -a Article | grep -c error
                    echo '{"title": "Tea", "tags": ["T1"]}' > Article/A1.json; cat Article/.error
                    jq -c .tags Article/A1.json; recordfs draft list
                    recordfs get --meta Article/A1.json | jq -c .problems
                    echo '{"articles": ["A1"]}' > Tag/T2.json; cat Article/.error 2>&1 | grep -c 'No such'
                    recordfs get --meta Article/A1.json | jq -c .problems
                    echo '{"tags": ["T1","T2","T3","T4"]}' > Article/t; mv Article/t Article/A1.json; cat Article/.error
                    rm Article/.error; ls -a Article | grep -c error
                    echo '{"tags": []}' > Article/A1.json; ls -a Article | grep -c error
                    echo '{"tags": ["T1"]}' > Article/A1.json; ls -a Article | grep -c error
                    rm Article/A1.json; recordfs unmount; cd
                    """) == """
                        0
                        A1.json is saved, but "tags" has 1 object, and the model wants at least 2
                        ["T1"]
                        ["\\"tags\\" has 1 object, and the model wants at least 2"]
                        1
                        null
                        A1.json is saved, but "tags" has 4 objects, and the model wants at most 3
                        0
                        0
                        1
                        """)
        }

        @Test("bad records of the server are shown with their problems")
        func problems() async throws {
            let account = try await Account()
            let (model, plain) = (try account.machine(), try account.machine())
            try model.ok(
                "recordfs unmount\n\(Self.model)\nrecordfs model attach shop.json && recordfs mount"
            )
            try plain.ok(
                """
                mkdir -p \(Self.zone)/CD_Article && cd \(Self.zone)/CD_Article
                echo '{"CD_entityName": "Book", "CD_title": "Too long", "CD_isNew": 7,
                       "CD_shelf": "S9"}' > B1.json
                echo '{"CD_entityName": "Book", "CD_shelf": "B1"}' > B2.json
                recordfs sync
                """)
            #expect(try model.eventually("jq -r .title \(Self.zone)/Book/B1.json", "Too long"))
            #expect(
                try model.ok(
                    """
                    jq -r '.problems[]' RecordFS/.recordfs/meta/\(Self.zone.dropFirst(9))/Book/B1.json
                    """) == """
                        "title" has at most 5 characters, and this has 8
                        "isNew" takes true or false, and this is 7
                        "shelf" names S9, which is not there
                        """)
            #expect(
                try model.eventually(
                    "recordfs get --meta \(Self.zone)/Book/B2.json | jq -r '.problems[]'",
                    "\"shelf\" names B1, which is an object of Book, and the model wants Shelf"))
            try plain.ok("recordfs unmount")
            try model.ok("recordfs unmount")
        }

        @Test(
            "objects that are newer than the model are hidden and counted, here and from elsewhere")
        func newer() async throws {
            let account = try await Account()
            let (model, plain) = (try account.machine(), try account.machine())
            try plain.ok(
                """
                mkdir -p \(Self.zone)/CD_Article && cd \(Self.zone)/CD_Article
                for v in 1 2 3; do
                    echo '{"CD_entityName": "Book", "CD_title": "V'$v'", "CD_version": '$v'}' > B$v.json
                done
                recordfs sync
                """)
            #expect(try model.eventually("ls \(Self.zone)/CD_Article", "B1.json\nB2.json\nB3.json"))
            #expect(
                try model.ok(
                    "recordfs status | grep -c 'CD_Article are records that Core Data has made'")
                    == "1")
            try model.ok(
                """
                recordfs unmount
                \(Self.model)
                mkdir -p .config/recordfs && echo '{"model": "~/shop.json"}' > .config/recordfs/config.json
                recordfs status | grep 'recordfs unmount; recordfs model attach; recordfs mount'
                recordfs model attach --largest-version 2 && recordfs mount
                """)
            #expect(
                try model.ok("ls -a \(Self.zone) \(Self.zone)/Book | tr '\\n' ' '").contains(
                    "Book: B1.json B2.json"))
            #expect(
                try model.ok("recordfs ls \(Self.zone); recordfs status | grep newer") == """
                    Book/
                    1 object is newer than the attached model, which knows version 2, and hidden. \
                    Attach the model of a newer app to see it.
                    """)
            // The newer app takes one over, and makes another one.
            try plain.ok(
                """
                cd \(Self.zone)/CD_Article && sed -i 's/"CD_version": 2/"CD_version": 9/' B2.json
                echo '{"CD_entityName": "Book", "CD_version": 5}' > B5.json && recordfs sync
                """)
            #expect(try model.eventually("ls \(Self.zone)/Book", "B1.json"))
            #expect(
                try model.eventually("recordfs status --json | jq .model.newer", "3"))
            let own = try model.shell(
                "cd \(Self.zone)/Book && echo '{\"version\": 3}' > B7.json; cat .error")
            #expect(own.output.contains("\"version\" is at most 2"), "\(own)")
            #expect(
                try model.ok(
                    """
                    cd \(Self.zone)/Book && rm B7.json
                    ls ~/RecordFS/.recordfs/raw/\(Self.zone.dropFirst(9))/CD_Article
                    cd && recordfs sync && recordfs unmount && recordfs model attach
                    recordfs mount > /dev/null; ls \(Self.zone) \(Self.zone)/Book && jq -r .version \(Self.zone)/Book/B2.json
                    """) == """
                        B1.json
                        B2.json
                        B3.json
                        B5.json
                        \(Self.zone):
                        Book

                        \(Self.zone)/Book:
                        B1.json
                        B2.json
                        B3.json
                        B5.json
                        9
                        """)
            for home in [model, plain] {
                try home.ok("recordfs sync && recordfs unmount && recordfs fsck --deep")
            }
        }

        @Test("lists, tables and schema texts name the members of the model, and read them back")
        func names() throws {
            let home = try CommandLineHome()
            try home.ok("\(Self.model)\nrecordfs model attach shop.json")
            try home.ok(
                """
                echo '{"title": "Tea", "price": "1.50", "isNew": true, "tags": ["T1", "T2"]}' |
                    recordfs put private/Z/Book/B1
                echo '{"title": "Pot", "tags": ["T1", "T2"]}' | recordfs put private/Z/Book/B1
                """)
            #expect(
                try home.ok(
                    """
                    recordfs events --json | grep B1 | jq -c .fields
                    recordfs history --json private/Z/Book/B1 | jq -c .fields
                    recordfs events | grep Book | grep -c CD_
                    recordfs schema show Book | grep -oE '^ *(CD_)?(title|price) [A-Z0-9]*' | tr -s ' '
                    recordfs schema show Book > s.ckdb && recordfs schema check s.ckdb
                    recordfs schema apply s.ckdb && recordfs schema show Book | cmp - s.ckdb
                    """) == """
                        ["title","price","isNew"]
                        ["title","price","isNew"]
                        ["title","price","isNew"]
                        ["title","price","isNew"]
                        0
                         title STRING
                         price DOUBLE
                        """)
            try home.ok(
                """
                echo '{"title": "Tea", "price": "1.25", "isNew": true, "tags": ["T1", "T2"]}' |
                    recordfs put private/Z/Book/B1
                """)
            #expect(
                try home.ok(
                    """
                    recordfs export --format csv private/Z/Book | tee b.csv
                    recordfs rm private/Z/Book/B1 && recordfs import -q b.csv private/Z/Book
                    recordfs get private/Z/Book/B1 | jq -cS .
                    recordfs schema show Book | cmp - s.ckdb
                    recordfs export --format ndjson private/Z/Book > b.ndjson
                    recordfs rm private/Z/Book/B1 && recordfs import -q b.ndjson private/Z/Book
                    recordfs get private/Z/Book/B1 | jq -cS .
                    """) == """
                        $name,$parent,title,price,isNew,version,pages,shelf,tags
                        B1,,Tea,1.25,true,,,,"[""T1"",""T2""]"
                        {"isNew":true,"price":1.25,"tags":["T1","T2"],"title":"Tea"}
                        {"isNew":true,"price":1.25,"tags":["T1","T2"],"title":"Tea"}
                        """)
        }
    }
}
