import RecordControl
import RecordModel
import Testing

@Suite("Record paths")
struct RecordPathTests {
    @Test(
        "a path reads as its parts and prints as on the mount",
        arguments: [
            ("private/Kitchen/Recipe/soup", "private/Kitchen/Recipe/soup.json"),
            ("private/Kitchen/Recipe/soup.json", "private/Kitchen/Recipe/soup.json"),
            ("/private//Kitchen/Recipe/", "private/Kitchen/Recipe"),
            ("private/Kitchen", "private/Kitchen"),
            ("local", "local"),
            ("", ""),
            (
                "shared/anna@example.com/Kitchen/Recipe/soup",
                "shared/anna@example.com/Kitchen/Recipe/soup.json"
            ),
            ("private/Z/T/soup@photo.jpg", "private/Z/T/soup@photo.jpg"),
            ("private/Z/T/soup@photos.2.jpg", "private/Z/T/soup@photos.2.jpg"),
            ("private/Z/T/a%2Fb", "private/Z/T/a%2Fb.json"),
            ("private/Z/T/v1.2", "private/Z/T/v1.2.json"),
            ("private/Z/T/Köln", "private/Z/T/Köln.json"),
        ])
    func canonical(typed: String, printed: String) throws {
        let path = try RecordPath(typed)
        #expect(path.description == printed)
        #expect(try RecordPath(path.description) == path)
    }

    @Test("the parts of a record path are typed")
    func parts() throws {
        let path = try RecordPath("shared/anna/Kitchen/Recipe/soup")
        #expect(path.database == .shared)
        #expect(path.owner == OwnerName("anna"))
        #expect(path.zone == ZoneName("Kitchen"))
        #expect(path.type == RecordTypeName("Recipe"))
        #expect(path.stem == Stem("soup"))
        #expect(path.directory == (try RecordPath("shared/anna/Kitchen/Recipe")))
    }

    @Test(
        "what no directory or record can be called is refused",
        arguments: [
            "privat/Z/T/a", "private/Z/9T/a", "private/Z/T-x/a", "private/Z/T/a/b",
            "private/.Z/T/a", "private/Z/T/.hidden", "private/Z/T/#a", "private/Z/T/a~",
            "private/Z/T/50%", "private/Z/T/a%2fb",
        ])
    func refused(path: String) throws {
        let error = try error { _ = try RecordPath(path) }
        #expect(error.code == .invalidName)
    }

    @Test("the refusal of a name says how it is spelled")
    func spelling() throws {
        let error = try error { _ = try RecordPath("private/Z/T/.hidden") }
        #expect(error.message.contains("%2Ehidden"))
    }

    @Test("names that differ only in Unicode normalisation are different")
    func normalisation() throws {
        let composed = try RecordPath(parsing: bytes("private/Z/T/") + [0xC3, 0xA9])
        let decomposed = try RecordPath(parsing: bytes("private/Z/T/e") + [0xCC, 0x81])
        #expect(composed != decomposed)
    }
}
