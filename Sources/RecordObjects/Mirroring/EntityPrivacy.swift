package import RecordModel

/// The entities whose objects stay with their user when related objects are shared.
///
/// The model says it in the entity's user info, under `recordfs.private`: `true` or `false`.
/// Sub-entities inherit it.
package enum EntityPrivacy {
    /// The key of the user info.
    package static let key = "recordfs.private"

    /// Returns whether the objects of an entity stay with their user.
    ///
    /// Errors: `invalidArgument` for a value that is neither `true` nor `false`.
    package static func isPrivate(
        _ entity: String, in model: ObjectModel
    ) throws(RecordError) -> Bool {
        switch ModelHierarchy(model).note(key, of: entity) {
        case nil, "false": return false
        case "true": return true
        case let value?:
            throw RecordError(
                .invalidArgument,
                "\(key) of \(entity) is \"\(value)\". It is true or false.")
        }
    }
}

extension ObjectModel {
    /// Returns the model in which the objects of an entity stay with their user, or do not.
    ///
    /// Errors: `notFound` for an entity that the model does not have.
    package func keeping(
        _ entity: String, isPrivate: Bool
    ) throws(RecordError) -> ObjectModel {
        var model = self
        guard let place = model.entities.firstIndex(where: { $0.name == entity }) else {
            throw RecordError(.notFound, "the model has no entity \(entity).")
        }
        model.entities[place].userInfo.removeAll { $0.key == EntityPrivacy.key }
        // A sub-entity says it, too, when it differs from what it inherits.
        if try EntityPrivacy.isPrivate(entity, in: model) != isPrivate {
            model.entities[place].userInfo.append(
                UserInfo(key: EntityPrivacy.key, value: "\(isPrivate)"))
        }
        return model
    }

    /// Returns the model with what an earlier one says of its entities, where it says nothing itself:
    /// a new version of an app's model makes nothing public.
    package func keepingPrivacy(of earlier: ObjectModel) -> ObjectModel {
        var model = self
        for place in model.entities.indices {
            let entity = model.entities[place]
            let before = earlier.entities.first {
                $0.name == entity.name || $0.name == entity.renamedFrom
            }
            guard !entity.userInfo.contains(where: { $0.key == EntityPrivacy.key }),
                let note = before?.userInfo.first(where: { $0.key == EntityPrivacy.key })
            else { continue }
            model.entities[place].userInfo.append(note)
        }
        return model
    }
}
