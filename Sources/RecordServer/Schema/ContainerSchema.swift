package import RecordModel
import RecordWire

/// What a grant of the public database allows (reference §15.3).
package typealias SchemaPermission = SchemaDocument.Permission

/// The schema of a container in one environment: types, fields, indexes, roles and grants.
package struct ContainerSchema: Sendable {
    package let container: ContainerKey
    /// Of the stored schema, or of the one that `save` would store.
    package let version: Int64
    /// What the text says; `cloudkit.share` and `Users` are there also when it does not.
    package private(set) var document: SchemaDocument
    private var types: [RecordTypeName: TypeSchema]

    package init(container: ContainerKey, version: Int64, document: SchemaDocument) {
        self.container = container
        self.version = version
        self.document = document
        types = Self.types(of: document)
    }

    /// By their names, with those that are there in every schema.
    static func types(of document: SchemaDocument) -> [RecordTypeName: TypeSchema] {
        var types: [RecordTypeName: TypeSchema] = [:]
        for name in SchemaDocument.RecordType.implicitNames {
            types[name] = TypeSchema(.implicit(name))
        }
        for type in document.types { types[type.name] = TypeSchema(complete(type)) }
        return types
    }

    /// Shares keep their own fields also where a text names only those of an app.
    private static func complete(_ type: SchemaDocument.RecordType) -> SchemaDocument.RecordType {
        guard SchemaDocument.RecordType.implicitNames.contains(type.name) else { return type }
        let implicit = SchemaDocument.RecordType.implicit(type.name)
        var complete = type
        let known = Set(type.fields.map(\.name))
        complete.fields += implicit.fields.filter { !known.contains($0.name) }
        if type.grants.isEmpty { complete.grants = implicit.grants }
        return complete
    }

    package func type(_ name: RecordTypeName) -> TypeSchema? { types[name] }
    var typeCount: Int { types.count }

    /// The schema with these fields more, and with the type if it is new.
    func adding(_ fields: [SchemaDocument.Field], to type: RecordTypeName) -> ContainerSchema {
        var document = document
        if let index = document.types.firstIndex(where: { $0.name == type }) {
            document.types[index].fields += fields
        } else {
            var new = SchemaDocument.RecordType.new(type)
            new.fields += fields
            document.types.append(new)
        }
        return replaced(by: document)
    }

    /// The schema that this document makes, as the next version to be stored.
    func replaced(by document: SchemaDocument) -> ContainerSchema {
        ContainerSchema(container: container, version: nextVersion, document: document)
    }

    /// However often a transaction changes the schema, it makes one version.
    private var nextVersion: Int64 { isStored ? version + 1 : version }
    var isStored = false
}
