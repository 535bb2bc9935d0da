package import RecordModel
package import RecordObjects

/// The model that is attached to a store, whose records are its objects.
///
/// A store has one model, as a container of CloudKit has one: zones that others share hold objects
/// of the same app.
package struct AttachedModel: Sendable {
    package let mapping: ObjectMapping
    /// The attributes by which objects are the same, by type.
    package let identities: [RecordTypeName: ObjectIdentity]
    /// The types whose objects stay with their user when others are shared.
    package let privateTypes: Set<RecordTypeName>
    /// The configuration whose entities the store has. Nil for all.
    package let configuration: String?
    /// The time at which it was attached.
    package let attached: Timestamp

    package init(
        _ model: ObjectModel, configuration: String? = nil, largestVersion: Int64? = nil,
        attached: Timestamp
    ) throws(RecordError) {
        var chosen: Configuration?
        if let configuration {
            chosen = model.configurations.first { $0.name == configuration }
            guard chosen != nil else {
                throw RecordError(
                    .notFound, "the model has no configuration \"\(configuration)\".")
            }
        }
        mapping = ObjectMapping(
            model, configuration: chosen, largestVersion: largestVersion)
        var identities: [RecordTypeName: ObjectIdentity] = [:]
        var privateTypes: Set<RecordTypeName> = []
        for type in mapping.types {
            identities[type] = try ObjectIdentity(of: "\(type)", in: model)
            if try EntityPrivacy.isPrivate("\(type)", in: model) { privateTypes.insert(type) }
        }
        self.privateTypes = privateTypes
        self.identities = identities
        self.configuration = configuration
        self.attached = attached
        guard largestVersion == nil || mapping.hasVersions else {
            throw RecordError(
                .invalidArgument,
                "no entity of the model has an attribute \"version\" of whole numbers.")
        }
    }
}

extension AttachedModel {
    /// Returns another model that is attached in the same way.
    package func with(_ model: ObjectModel) throws(RecordError) -> AttachedModel {
        try AttachedModel(
            model, configuration: configuration, largestVersion: mapping.largestVersion,
            attached: attached)
    }

    /// Returns the members of a type's texts. Nil for a type that is no entity.
    func members(of type: RecordTypeName) -> MemberMapping? { mapping.members(of: type) }
}
