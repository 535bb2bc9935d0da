package import RecordModel
import RecordWire

/// The permission that a grant of the public database gives (ManagementPlane, "The schema
/// language").
package typealias SchemaPermission = SchemaDocument.Permission

/// The schema of a container in one environment: types, fields, indexes, roles and grants.
package struct ContainerSchema: Sendable {
    package let container: ContainerKey
    /// The version of the stored schema, or of the one that `save` would store.
    package let version: Int64
    /// The content of the text. `cloudkit.share` and `Users` are there even when the text does not
    /// name them.
    package private(set) var document: SchemaDocument
    private var types: [RecordTypeName: TypeSchema]

    package init(container: ContainerKey, version: Int64, document: SchemaDocument) {
        self.container = container
        self.version = version
        self.document = document
        types = Self.types(of: document)
    }

    /// Returns the types by their names, with those that are in every schema.
    static func types(of document: SchemaDocument) -> [RecordTypeName: TypeSchema] {
        var types: [RecordTypeName: TypeSchema] = [:]
        for name in SchemaDocument.RecordType.implicitNames {
            types[name] = TypeSchema(.implicit(name))
        }
        for type in document.types { types[type.name] = TypeSchema(complete(type)) }
        return types
    }

    /// Returns the type with its own fields. Shares keep them even when a text names only those of
    /// an app.
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

    /// Returns the schema with these fields added, and with the type if it is new.
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

    /// Returns the schema that this document makes, as the next version to be stored.
    func replaced(by document: SchemaDocument) -> ContainerSchema {
        ContainerSchema(container: container, version: nextVersion, document: document)
    }

    /// The version of the next change. All changes of one transaction make one version.
    private var nextVersion: Int64 { isStored ? version + 1 : version }
    var isStored = false
}
