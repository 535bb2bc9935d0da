import RecordControl
import RecordModel
import RecordObjects
import RecordStore

/// The model of a store, and what is to be done about it.
struct ModelState {
    private let attached: AttachedModel?
    /// The number of objects that are newer than the model.
    private let newer: Int64
    /// The types of records that Core Data has made, while no model is attached.
    private let types: [RecordTypeName]
    /// The model that config.json names.
    private let configured: String?

    init(of store: RecordStore, _ access: StoreAccess) throws(CommandFailure) {
        configured = try access.settings().model
        attached = store.model.attached
        (newer, types) = try access.reporting { () throws(RecordError) in
            (try store.model.newerCount(), try store.model.typesWithoutModel())
        }
    }

    var lines: [String] {
        if let attached {
            guard newer > 0, let largest = attached.mapping.largestVersion else { return [] }
            return [
                "\(Showing.count(newer, "object")) \(newer == 1 ? "is" : "are") newer than the "
                    + "attached model, which knows version \(largest), and hidden. Attach the model "
                    + "of a newer app to see \(newer == 1 ? "it" : "them")."
            ]
        }
        guard !types.isEmpty || configured != nil else { return [] }
        let what =
            types.isEmpty
            ? "No model is attached, and \(HostPaths.configuration) names one"
            : "\(types.map(\.description).joined(separator: ", ")) are records that Core Data has "
                + "made, and no model is attached"
        let argument = configured == nil ? " MODEL" : ""
        return [
            "\(what). To see objects: recordfs unmount; recordfs model attach\(argument); "
                + "recordfs mount"
        ]
    }

    var json: JSONValue {
        guard let attached else {
            return .members([
                "attached": .null, "configured": configured.map { .text($0) } ?? .null,
                "typesWithoutModel": .array(types.map { .name($0) }),
            ])
        }
        return .members([
            "attached": .text(Showing.time(attached.attached)),
            "configured": configured.map { .text($0) } ?? .null,
            "configuration": attached.configuration.map { .text($0) } ?? .null,
            "largestVersion": attached.mapping.largestVersion.map { .integer($0) } ?? .null,
            "newer": .integer(newer),
        ])
    }
}
