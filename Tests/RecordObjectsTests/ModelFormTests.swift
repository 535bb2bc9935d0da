import RecordModel
import RecordObjects
import Testing

/// The forms of a model: an `.xcdatamodel`, and our JSON form.
@Suite
struct ModelFormTests {
    @Test("a model of Xcode comes back byte for byte")
    func xmlAgain() throws {
        let text = try XMLModelWriter.print(try Shop.model())
        #expect(String(decoding: text, as: UTF8.self) == Shop.xml)
    }

    @Test("a model that went through the JSON form is equal, and its XML too")
    func jsonAgain() throws {
        let model = try Shop.model()
        let copy = try ModelText.parse(JSONModelWriter.print(model))
        #expect(copy == model)
        #expect(String(decoding: try XMLModelWriter.print(copy), as: UTF8.self) == Shop.xml)
    }

    @Test("what XML says is in the values")
    func values() throws {
        let model = try Shop.model()
        let book = try #require(model.entities.first { $0.name == "Book" })
        #expect(book.parent == "Article" && book.renamedFrom == "Volume")
        let sku = try #require(model.entities[0].attributes.first { $0.name == "sku" })
        #expect(!sku.isOptional && sku.pattern == "[0-9]+" && sku.minimum == "3")
        #expect(sku.userInfo == [UserInfo(key: "label", value: "\"A & B\"\n<1>")])
        let shelves = model.entities[0].relationships[0]
        #expect(shelves.isToMany && shelves.maximumCount == 9 && shelves.inverse == "articles")
        #expect(model.entities[2].relationships.map(\.deleteRule) == [.cascade, .noAction])
        #expect(model.configurations.map(\.usedWithCloudKit) == [true, false])
    }

    @Test("a model that a person writes needs little")
    func smallJSON() throws {
        let text = """
            {"entities": {
                "Post": {"attributes": {"title": {"type": "String", "maximum": 80}},
                         "relationships": {"tags": {"to": "Tag", "many": true, "inverse": "posts"}}},
                "Tag": {"relationships": {"posts": {"to": "Post", "many": true, "inverse": "tags",
                                                    "onDelete": "cascade"}}}}}
            """
        let model = try ModelText.parse(Array(text.utf8))
        #expect(
            model.entities.first?.attributes == [
                Attribute(name: "title", type: .string, maximum: "80")
            ])
        #expect(model.entities.last?.relationships.first?.deleteRule == .cascade)
        #expect(MirroringCheck(model).failures.isEmpty)
    }

    @Test(
        "a wrong member is named with its path",
        arguments: [
            (#"{"entities": []}"#, "the model.entities: this is an array. Write an object."),
            (
                #"{"entities": {"A": {"attributes": {"b": {"type": "Text"}}}}}"#,
                "the model.entities.A.attributes.b.type: \"Text\" is no type."
            ),
            (
                #"{"entities": {"A": {"atributes": {}}}}"#,
                "the model.entities.A.atributes: there is no such member."
            ),
            (
                #"{"entities": {"A": {"relationships": {"b": {"many": true}}}}}"#,
                "the model.entities.A.relationships.b.to: this member is missing."
            ),
            (
                #"{"entities": {"A": {"attributes": {"b": {"type": "String", "required": 1}}}}}"#,
                "the model.entities.A.attributes.b.required: this is an integer. Write true or false."
            ),
            (
                #"{"entities": {"A": {"relationships": {"b": {"to": "A", "maximumCount": 5}}}}}"#,
                "the model.entities.A.relationships.b.maximumCount: the relationship is to one object."
            ),
            (
                #"<model><entity name="A"><relationship name="b" maxCount="5" destinationEntity="A"/>"#
                    + "</entity></model>",
                #"the relationship b is to one object and has maxCount="5"."#
            ),
            (#"<entity name="A"/>"#, "the XML text is a <entity>."),
            (
                #"<model><entity name="A"><attribute name="b" optional="yes"/></entity></model>"#,
                #"<attribute name="b"> has optional="yes". Write YES or NO."#
            ),
        ])
    func wrong(text: String, expected: String) {
        let message = message { () throws(RecordError) in
            _ = try ModelText.parse(Array(text.utf8))
        }
        #expect(message?.hasPrefix(expected) == true, "\(message ?? "no error")")
    }

    @Test("the current version is read from a property list, and written into one")
    func currentVersion() throws {
        let text = try ModelText.printCurrentVersion("A & B.xcdatamodel")
        #expect(try ModelText.currentVersion(text) == "A & B.xcdatamodel")
        #expect(try ModelText.currentVersion(Array("<plist><dict/></plist>".utf8)) == nil)
    }

    @Test("XML is read in the encoding that it declares")
    func encodings() throws {
        let text =
            "<model><entity name=\"A\"><userInfo><entry key=\"k\" value=\"é\"/></userInfo></entity></model>"
        let declaration = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"
        let latin = (declaration + text).unicodeScalars.map { UInt8($0.value) }
        #expect(try ModelText.parse(latin).entities[0].userInfo[0].value == "é")
        let wide: [UInt8] = "\u{FEFF}\(text)".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try ModelText.parse(wide).entities[0].userInfo[0].value == "é")
    }

    @Test("an inverse that Xcode says to be of another entity is kept")
    func inverseEntity() throws {
        let xml = Shop.xml.replacing(
            "inverseName=\"room\" inverseEntity=\"Shelf\"",
            with: "inverseName=\"room\" inverseEntity=\"Article\"")
        #expect(xml != Shop.xml)
        let model = try ModelText.parse(Array(xml.utf8))
        let copy = try ModelText.parse(JSONModelWriter.print(model))
        #expect(String(decoding: try XMLModelWriter.print(copy), as: UTF8.self) == xml)
    }

    @Test("a name that XML cannot hold is refused when it is written")
    func xmlNames() throws {
        var model = try Shop.model()
        model.xcode.elements = [XMLElement("a><b")]
        #expect(throws: RecordError.self) { try XMLModelWriter.print(model) }
        model.xcode.elements = [XMLElement("a", [XMLAttribute("b", "\u{1}")])]
        #expect(throws: RecordError.self) { try XMLModelWriter.print(model) }
    }
}
