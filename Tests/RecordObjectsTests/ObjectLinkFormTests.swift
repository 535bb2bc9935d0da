import RecordModel
import RecordObjects
import Testing

@Suite("Records of many-to-many links") struct ObjectLinkFormTests {
    private func fields(
        _ entities: String, _ records: String, _ relationships: String
    ) -> [RecordField] {
        zip(
            ["CD_entityNames", "CD_recordNames", "CD_relationships"],
            [entities, records, relationships]
        ).map { RecordField(name: FieldName($0), value: .string(Text($1))) }
    }

    private let post = ObjectLink.End(
        entity: "Post", record: RecordName("P"), relationship: FieldName("tags"))
    private let tag = ObjectLink.End(
        entity: "Tag", record: RecordName("T"), relationship: FieldName("posts"))

    @Test("a colon separates the names, as in the records of Core Data")
    func colon() {
        let written = fields("Post:Tag", "P:T", "tags:posts")
        #expect(ObjectLink(written) == ObjectLink(post, tag))
        #expect(ObjectLink(tag, post).fields == written)
    }

    @Test("a semicolon is read, as Apple's text calls it, where there is no colon")
    func semicolon() {
        #expect(ObjectLink(fields("Post;Tag", "P;T", "tags;posts")) == ObjectLink(post, tag))
        #expect(ObjectLink(fields("Post;Tag", "P:T", "tags:posts")) == ObjectLink(post, tag))
        let odd = ObjectLink(fields("Post:Tag", "P;1:T", "tags:posts"))
        #expect(odd?.first.record == RecordName("P;1"))
    }

    @Test(
        "what names no two objects links nothing",
        arguments: ["", "P", "P:", ":T", "P:T:U", ";", "P;T;U"])
    func wrong(names: String) {
        #expect(ObjectLink(fields("Post:Tag", names, "tags:posts")) == nil)
    }
}
