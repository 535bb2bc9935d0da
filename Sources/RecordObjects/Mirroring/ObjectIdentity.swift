package import RecordModel

/// The attributes by which two objects of an entity are the same object, made twice.
///
/// The model says it in the entity's user info, under `recordfs.identity`: the names of attributes,
/// separated by commas. Sub-entities inherit it.
package struct ObjectIdentity: Hashable, Sendable {
    /// The key of the user info.
    package static let key = "recordfs.identity"
    /// The name of the attribute that says since when an object is a duplicate, as in Apple's
    /// sample. An entity may do without.
    private static let markName = "deduplicatedDate"

    /// The fields whose values are equal. An object without a value for each is like no other.
    package let fields: [FieldName]
    /// The field whose lowest value stays. Nil when names of records decide.
    package let order: FieldName?
    /// The field that tells other machines and the app that an object is a duplicate.
    package let mark: FieldName?

    /// Reads the identity of an entity. Returns nil for an entity without one.
    ///
    /// Errors: `invalidArgument` for a name that is no attribute with a value in records.
    package init?(of entity: String, in model: ObjectModel) throws(RecordError) {
        let hierarchy = ModelHierarchy(model)
        guard let note = hierarchy.note(Self.key, of: entity) else { return nil }
        let attributes = hierarchy.attributes(of: entity).filter(\.isMirrored)
        let names = note.split(separator: ",").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        for name in names where !attributes.contains(where: { $0.name == name }) {
            throw RecordError(
                .invalidArgument,
                "\(Self.key) of \(entity) names \(name), and \(entity) has no such attribute.")
        }
        guard !names.isEmpty else { return nil }
        fields = names.map(MirroredSchema.field(of:))
        let uuids = attributes.filter { $0.type == .uuid }
        order = uuids.count == 1 ? MirroredSchema.field(of: uuids[0].name) : nil
        let mark = attributes.first { $0.name == Self.markName && $0.type == .date }
        self.mark = mark.map { MirroredSchema.field(of: $0.name) }
    }
}

extension ObjectModel {
    /// Returns the model with other attributes that identify the objects of an entity.
    ///
    /// - Parameter attributes: their names; empty when no objects of the entity are the same.
    ///
    /// Errors: `notFound` for an entity that the model does not have.
    package func identifying(
        _ entity: String, by attributes: [String]
    ) throws(RecordError) -> ObjectModel {
        var model = self
        guard let place = model.entities.firstIndex(where: { $0.name == entity }) else {
            throw RecordError(.notFound, "the model has no entity \(entity).")
        }
        model.entities[place].userInfo.removeAll { $0.key == ObjectIdentity.key }
        if !attributes.isEmpty {
            model.entities[place].userInfo.append(
                UserInfo(key: ObjectIdentity.key, value: attributes.joined(separator: ",")))
        }
        return model
    }
}
