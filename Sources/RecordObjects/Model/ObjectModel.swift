/// A managed object model: entities with attributes and relationships, as an app's `.xcdatamodel`
/// or our JSON form describes them.
///
/// INVARIANT: `ModelConsistency` finds nothing in a model that a reader has returned: names are
/// unique, parents and destinations exist, and no entity is its own ancestor.
package struct ObjectModel: Hashable, Sendable {
    package var entities: [Entity]
    package var configurations: [Configuration]
    /// The details that only Xcode uses: its editor, its compiler.
    package var xcode: XcodeDetails

    package init(
        entities: [Entity] = [], configurations: [Configuration] = [],
        xcode: XcodeDetails = XcodeDetails()
    ) {
        self.entities = entities
        self.configurations = configurations
        self.xcode = xcode
    }

    /// Returns the entities of a configuration, or all when it is nil.
    package func entities(of configuration: Configuration?) -> [Entity] {
        guard let configuration else { return entities }
        let names = Set(configuration.entities)
        return entities.filter { names.contains($0.name) }
    }
}

/// A named part of the entities, for one store.
package struct Configuration: Hashable, Sendable {
    package var name: String
    package var entities: [String]
    /// Indicates whether the app marks the configuration as "Used with CloudKit".
    package var usedWithCloudKit: Bool

    package init(name: String, entities: [String], usedWithCloudKit: Bool = false) {
        self.name = name
        self.entities = entities
        self.usedWithCloudKit = usedWithCloudKit
    }
}

/// The parts of a model, an entity or a property that mean nothing here. They are kept, so that an
/// import and an export change nothing.
package struct XcodeDetails: Hashable, Sendable {
    /// XML attributes, such as `representedClassName` and `usesScalarValueType`.
    package var attributes: [String: String]
    /// XML elements, such as fetch requests and the places on the editor's canvas.
    package var elements: [XMLElement]

    package init(attributes: [String: String] = [:], elements: [XMLElement] = []) {
        self.attributes = attributes
        self.elements = elements
    }

    package var isEmpty: Bool { attributes.isEmpty && elements.isEmpty }
}
