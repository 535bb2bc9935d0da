import ArgumentParser
import RecordControl
import RecordModel
import RecordObjects
import RecordStore

struct ModelPrivateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "private",
        abstract: "Say which entities stay with you when others are shared.",
        discussion: """
            recordfs share create moves an object with all that it is related to, but not objects \
            of these entities: they stay in their zone. Without an entity, those of the attached \
            model are printed. The store must not be mounted.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The entity, as in Note.")
    var entity: String?
    @Flag(help: "Objects of the entity are shared with the others.")
    var off = false

    func validate() throws {
        if entity == nil, off { throw ValidationError("--off needs an entity.") }
    }

    func run() throws {
        var types: [RecordTypeName] = []
        try ModelAttachCommand.change(try state.access()) { transaction throws(RecordError) in
            let attached = try ModelAttachCommand.model(transaction)
            guard let entity else {
                types = attached.privateTypes.sorted()
                return
            }
            let model = try attached.mapping.model.keeping(entity, isPrivate: !off)
            try transaction.models.attach(try attached.with(model))
        }
        for type in types { Terminal.print("\(type)") }
    }
}
