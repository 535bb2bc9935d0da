import RecordModel
import RecordObjects
import RecordStore

/// The model of the histories of graphs: a shop with each kind of relationship.
enum GraphModel {
    static let model = ObjectModel(
        entities: [
            Entity(
                name: "Shelf", attributes: [title],
                relationships: [
                    toMany("books", "Book", "shelf"),
                    toOne("room", "Shelf", "shelves"), toMany("shelves", "Shelf", "room"),
                ]),
            Entity(
                name: "Book", attributes: [title],
                relationships: [
                    toOne("shelf", "Shelf", "books"), toMany("tags", "Tag", "books"),
                    toOne("cover", "Cover", "book"), toMany("pages", "Page", "book", .cascade),
                ]),
            Entity(
                name: "Tag", attributes: [title, Attribute(name: "kind", type: .string)],
                relationships: [toMany("books", "Book", "tags")],
                userInfo: [UserInfo(key: ObjectIdentity.key, value: "kind")]),
            Entity(
                name: "Cover", attributes: [title],
                relationships: [toOne("book", "Book", "cover")]),
            Entity(
                name: "Page", attributes: [title],
                relationships: [toOne("book", "Book", "pages")]),
        ])

    /// The types of the objects, with the letter of their names.
    static let types = [
        "Book": "B", "Cover": "C", "Page": "P", "Shelf": "S", "Tag": "T",
    ]
    static let linkType = "CDMR"
    static let mapping = ObjectMapping(model)

    static func relations(of type: String) -> [Relation] {
        mapping.relations(of: RecordTypeName(type))
    }

    /// Returns the type of an object with a name.
    static func type(of name: String) -> String? {
        types.first { name.hasPrefix($0.value) }?.key
    }

    private static let title = Attribute(name: "title", type: .string)

    private static func toOne(
        _ name: String, _ destination: String, _ inverse: String
    ) -> Relationship {
        Relationship(name: name, destination: destination, inverse: inverse)
    }

    private static func toMany(
        _ name: String, _ destination: String, _ inverse: String,
        _ rule: Relationship.DeleteRule = .nullify
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, isToMany: true, deleteRule: rule
        )
    }
}

extension Relation {
    /// The key of a to-one relationship.
    var key: FieldName? {
        if case .key(let field) = form { field } else { nil }
    }

    var isList: Bool { key == nil }
}

extension Replica {
    /// Attaches the model of the histories of graphs.
    func attachGraphModel() throws {
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.models.attach(
                try AttachedModel(GraphModel.model, attached: transaction.now))
        }
    }
}
