import ArgumentParser
import RecordControl
import RecordModel
import RecordObjects
import RecordStore

struct ModelAttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Show the records of a store as the objects of a model.",
        discussion: """
            The records that Core Data makes, such as CD_Post, show as Post/NAME.json with the \
            attributes of the model. On the server nothing changes. The store must not be mounted. \
            A model that is attached already is replaced. "model" in config.json names the model \
            of a store, so that MODEL can be left out.
            """)

    @OptionGroup var state: StateOptions
    @Argument(
        help: "The model; - is standard input. That of config.json by default.",
        completion: .file())
    var model: String?
    @OptionGroup var version: ModelVersionOption
    @OptionGroup var part: ConfigurationOption
    @Option(
        help: ArgumentHelp(
            """
            Hide objects whose attribute "version" is greater than this: those of a newer version \
            of the app.
            """, valueName: "n"))
    var largestVersion: Int64?

    func run() throws {
        let access = try state.access()
        guard let path = try model ?? access.settings().model else {
            throw ValidationError(
                "Name a model, or set \"model\" of the store in \(HostPaths.configuration).")
        }
        let model = try version.read(path)
        let configuration = try part.find(in: model)
        try ModelFailures.refuse(
            ModelFailures.mirroring(model, configuration), of: path,
            "CloudKit cannot hold this model, and it was not attached.")
        let largest = largestVersion
        try ModelAttachCommand.change(access) { transaction throws(RecordError) in
            let earlier = transaction.model?.mapping.model
            try transaction.models.attach(
                try AttachedModel(
                    earlier.map(model.keepingPrivacy(of:)) ?? model,
                    configuration: configuration?.name, largestVersion: largest,
                    attached: transaction.now))
        }
    }

    /// Returns the model of a store.
    ///
    /// Errors: notFound without one.
    static func model(_ transaction: Transaction) throws(RecordError) -> AttachedModel {
        guard let attached = transaction.model else {
            throw RecordError(
                .notFound, "no model is attached to this store; see recordfs model attach.")
        }
        return attached
    }

    /// Changes the model of a store that no process has open.
    static func change(
        _ access: StoreAccess, _ body: (Transaction) throws(RecordError) -> Void
    ) throws {
        let options = try access.storeOptions()
        try access.reporting { () throws(RecordError) in
            let store = try open(access.directory, options)
            do throws(RecordError) {
                try store.write(author: .commandLine, body)
            } catch {
                try store.close()
                throw error
            }
            try store.close()
        }
    }

    private static func open(
        _ directory: String, _ options: StoreOptions
    ) throws(RecordError) -> RecordStore {
        do throws(RecordError) {
            return try RecordStore.open(directory: directory, options: options)
        } catch {
            guard error.code == .storeLocked else { throw error }
            throw RecordError(
                .storeLocked,
                "the store is in use, and its types would change under its users. Unmount it "
                    + "first (recordfs unmount), then mount it again: \(error.message)")
        }
    }
}

struct ModelDetachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach", abstract: "Show the records of a store as the server has them.",
        discussion: "On the server nothing changes. The store must not be mounted.")

    @OptionGroup var state: StateOptions

    func run() throws {
        try ModelAttachCommand.change(try state.access()) { transaction throws(RecordError) in
            try transaction.models.detach()
        }
    }
}
