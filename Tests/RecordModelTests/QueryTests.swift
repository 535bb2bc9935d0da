import RecordModel
import Testing

@Suite("Queries")
struct QueryTests {
    private let known = schema(
        ("title", .string), ("servings", .int64), ("price", .double), ("made", .timestamp),
        ("tags", .list(.string)), ("author", .reference), ("photo", .asset), ("note", .json),
        ("place", .location), ("extra", .string))
    private let soup = """
        {"title": "Tomato Soup, hot", "servings": 4, "price": 2.5, "tags": ["vegan", "Thai"],
         "made": {"$timestamp": "2026-11-20T10:00:00Z"}, "author": {"$ref": "me"},
         "photo": {"$asset": "soup@photo.png"}, "note": {"deep": "Text"}}
        """

    private func matches(_ expression: String) throws -> Bool {
        try QueryExpression(parsing: bytes(expression), schema: known).matches(
            document(soup, known), name: RecordName("soup"), created: Timestamp(seconds: 100),
            modified: Timestamp(seconds: 200))
    }

    @Test(
        "terms that hold",
        arguments: [
            "servings=4", "servings>=4", "servings<=4", "servings>3", "servings<5", "servings!=5",
            "servings>3.5", "price=2.5", "price<3", "title=Tomato%20Soup%2C%20hot", "title~SOUP",
            "title~soup%2C", "title^=Tomato", "tags=vegan", "tags=Thai", "tags~tha", "tags^=veg",
            "author=me", "photo", "!place", "!extra", "extra!=x", "title>Tom", "note~deep", "note",
            "name=soup",
            "$name=soup", "name^=so", "created=1970-01-01T00:01:40Z", "created<2000-01-01",
            "modified>=1970-01-01T00:03:20.000Z", "made=2026-11-20T10:00:00Z", "made>2026-11-20",
            "made~2026-11", "servings~4", "photo~png", "title!=x",
            "servings>=4,title~soup,tags=vegan", "sort:title", "title~",
            "servings=3|4", "servings=4|5", "servings>9|title~soup", "author=you|me,tags=vegan",
            "title~stew|soup", "extra|photo", "extra|!extra", "servings=5|price<3", "title!=x|y",
            "note.deep=Text", "note.deep~ex", "note.deep|extra", "note.deep!=x", "note.gone!=x",
            "created<1d", "modified<30s", "made<1h",
        ])
    func holds(_ expression: String) throws {
        #expect(try matches(expression))
    }

    @Test(
        "terms that do not hold",
        arguments: [
            "servings=5", "servings>4", "servings<4", "servings!=4", "title=tomato soup",
            "title^=tomato",
            "tags=thai", "tags!=vegan", "place", "extra", "extra=x", "extra~x", "extra<x", "!title",
            "servings=4,servings=5",
            "created>2000-01-01",
            "title~soups", "author=you", "made<2026-11-20", "note=x",
            "servings=3|5", "servings=4|5,extra=1|2", "note.deep=x", "note.gone", "note.deep.er=1",
            "created>1d", "modified>2w", "created>52000w,servings=1",
        ])
    func doesNotHold(_ expression: String) throws {
        #expect(try !matches(expression))
    }

    @Test(
        "terms that mean nothing are refused with the term and its place",
        arguments: [
            ("", 1, "expected a term"), ("servings=4,", 12, "expected a term"),
            ("servngs=4", 1, "no field \"servngs\" here; there are title, servings"),
            ("servings=four", 1, "\"four\" is no value of a INT64 field"),
            ("title~x,made=soon", 9, "no value of a TIMESTAMP field"),
            ("title=50%", 1, "%25"), ("=4", 1, "no field \"\""), ("sort:-x", 1, "no field \"x\""),
            ("servings=4|", 1, "%7C"), ("|servings=4", 1, "%7C"),
            ("servings=4|five", 1, "no value"), ("title=a|colour=b", 1, "no field \"colour\""),
            ("title.x=1", 1, "no field \"title.x\""),
            ("created>soon", 1, "an age"), ("created>5y", 1, "an age"),
            ("place=1", 1, "no value of a LOCATION field"), ("servings=", 1, "no value"),
        ] as [(String, Int, String)])
    func errors(_ expression: String, _ column: Int, _ message: String) {
        let error = refusal {
            try QueryExpression(parsing: bytes(expression), schema: known)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.position?.column == column)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("ages are counted from now, and members of lists of objects and of locations are found")
    func agesAndMembers() throws {
        func matches(_ expression: String, now: Int64) throws -> Bool {
            try QueryExpression(
                parsing: bytes(expression), schema: known, now: Timestamp(seconds: now)
            ).matches(
                document(
                    #"{"note": {"items": [{"n": 1}, {"n": 5.5}, {"on": true}]}, "place": "#
                        + #"{"$location": {"latitude": 48.5, "longitude": 11}}}"#, known),
                name: RecordName("x"), created: Timestamp(seconds: 7200),
                modified: Timestamp(seconds: 7200))
        }
        #expect(try matches("modified>1h", now: 10_000))
        #expect(try !matches("modified>1h", now: 20_000))
        #expect(try matches("modified<1h", now: 20_000))
        #expect(try matches("created>=2h", now: 14_400))
        let terms = [
            "note.items.n=5.5", "note.items.n>5", "note.items.on=true", "place.latitude>48",
        ]
        for term in terms {
            #expect(try matches(term, now: 0), "\(term)")
        }
        #expect(try !matches("note.items.n=2", now: 0))
        #expect(try !matches("place.latitude>49", now: 0))
    }

    @Test("a field called name goes before the record's own name")
    func shadowing() throws {
        let named = schema(("name", .string))
        let record = try document(#"{"name": "field"}"#, named)
        for (expression, expected) in [
            ("name=field", true), ("$name=soup", true), ("name=soup", false),
        ] {
            let query = try QueryExpression(parsing: bytes(expression), schema: named)
            #expect(
                query.matches(
                    record, name: RecordName("soup"), created: Timestamp(seconds: 0),
                    modified: Timestamp(seconds: 0)) == expected)
        }
    }

    @Test("true and false ask for 1 and 0")
    func booleans() throws {
        let flags = schema(("vegan", .int64))
        let record = try document(#"{"vegan": true}"#, flags)
        let query = try QueryExpression(parsing: bytes("vegan=true"), schema: flags)
        let epoch = Timestamp(seconds: 0)
        #expect(query.matches(record, name: RecordName("x"), created: epoch, modified: epoch))
    }

    @Test("records are sorted by several fields, those without a value last")
    func sorting() throws {
        let fields = schema(("a", .int64), ("b", .string))
        let query = try QueryExpression(parsing: bytes("sort:-a,sort:b"), schema: fields)
        let epoch = Timestamp(seconds: 0)
        let texts = [
            #"{"a": 1, "b": "x"}"#, #"{"b": "none"}"#, #"{"a": 2, "b": "z"}"#,
            #"{"a": 2, "b": "y"}"#,
        ]
        let keys = try texts.map {
            query.sortKey(
                try document($0, fields), name: RecordName("n"), created: epoch, modified: epoch)
        }
        let sorted = keys.indices.sorted { query.isOrdered(keys[$0], before: keys[$1]) }
        #expect(sorted == [3, 2, 0, 1])
    }
}
