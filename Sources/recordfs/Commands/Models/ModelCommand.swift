import ArgumentParser
import RecordControl
import RecordModel
import RecordObjects

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Read, check, compare, convert or attach object models.",
        discussion: """
            A model is an .xcdatamodeld or .xcdatamodel of Xcode, or a text in the JSON form that \
            recordfs model export prints.
            """,
        subcommands: [
            ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self,
            ModelExportCommand.self, ModelAttachCommand.self, ModelDetachCommand.self,
            ModelDedupeCommand.self, ModelPrivateCommand.self,
        ])
}

/// The model that a command reads.
struct ModelArgument: ParsableArguments {
    @Argument(help: "The model; - is standard input.", completion: .file())
    var model: String
    @OptionGroup var version: ModelVersionOption

    func read() throws(CommandFailure) -> ObjectModel { try version.read(model) }
}

/// The version of a model that a command reads.
struct ModelVersionOption: ParsableArguments {
    @Option(help: "The version of an .xcdatamodeld. The app's current one when absent.")
    var modelVersion: String?

    func read(_ path: String) throws(CommandFailure) -> ObjectModel {
        try reporting(path) { () throws(RecordError) in
            try ModelFile(path: path).model(version: modelVersion)
        }
    }
}

/// The part of a model that a command is about.
struct ConfigurationOption: ParsableArguments {
    @Option(help: "Only the entities of this configuration of the model.")
    var configuration: String?

    func find(in model: ObjectModel) throws(CommandFailure) -> RecordObjects.Configuration? {
        guard let configuration else { return nil }
        guard let found = model.configurations.first(where: { $0.name == configuration }) else {
            let names = model.configurations.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw CommandFailure(
                configuration,
                "the model has no such configuration. "
                    + (names.isEmpty ? "It has none." : "It has \(names)."),
                status: ExitStatus.notFound)
        }
        return found
    }
}

struct ModelShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the entities of a model with their properties.")

    @OptionGroup var model: ModelArgument
    @Argument(help: "The entities.")
    var entities: [String] = []

    func run() throws {
        let model = try model.read()
        for name in entities where !model.entities.contains(where: { $0.name == name }) {
            throw CommandFailure(
                name, "the model has no such entity.", status: ExitStatus.notFound)
        }
        for entity in model.entities where entities.isEmpty || entities.contains(entity.name) {
            for line in ModelShowing.lines(of: entity) { Terminal.print(line.onOneLine) }
        }
        guard entities.isEmpty else { return }
        for configuration in model.configurations {
            Terminal.print(ModelShowing.line(of: configuration).onOneLine)
        }
    }
}

struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether CloudKit can hold a model.",
        discussion: """
            Prints all rules of NSPersistentCloudKitContainer that the model breaks, in its words, \
            and ends with status 1. With --deployed it also checks what a new version of an app \
            must keep: nothing is renamed, and no field has another type.
            """)

    @OptionGroup var model: ModelArgument
    @OptionGroup var part: ConfigurationOption
    @Option(
        help: ArgumentHelp(
            "The deployed version of the model, or the .ckdb text of the deployed schema.",
            valueName: "file"), completion: .file())
    var deployed: String?

    func run() throws {
        let model = try model.read()
        let part = try part.find(in: model)
        var failures = ModelFailures.mirroring(model, part)
        // A model that CloudKit cannot hold has no schema to compare.
        if failures.isEmpty, let deployed {
            failures = try ModelFailures.deployment(model, part, over: deployed)
        }
        try ModelFailures.refuse(
            failures, of: self.model.model,
            "CloudKit cannot hold this model\(deployed == nil ? "" : " beside what is deployed").")
        Terminal.print(
            deployed == nil
                ? "CloudKit can hold this model."
                : "CloudKit can hold this model, and it keeps what is deployed.")
    }
}

struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Print what differs between two models.",
        discussion: "Ends with status 1 when something differs.")

    @Argument(help: "The old model, or the name of a version with --of.", completion: .file())
    var old: String
    @Argument(help: "The new model, or the name of a version with --of.", completion: .file())
    var new: String
    @Option(help: "An .xcdatamodeld whose versions are compared.", completion: .file())
    var of: String?

    func run() throws {
        let (before, after) = (try read(old), try read(new))
        let lines = ModelDifference.lines(from: before, to: after)
        for line in lines { Terminal.print(line.onOneLine) }
        if ModelDifference.hasRenames(from: before, to: after) {
            Terminal.error(
                "note: CloudKit renames nothing. Where the old model is deployed, its records and "
                    + "values stay under the old names, and the new ones begin empty. recordfs "
                    + "model check --deployed tells all that a deployed model must keep.")
        }
        if !lines.isEmpty { throw CommandFailure(nil, "") }
    }

    private func read(_ name: String) throws(CommandFailure) -> ObjectModel {
        try reporting(of ?? name) { () throws(RecordError) in
            guard let of else { return try ModelFile(path: name).model() }
            return try ModelFile(path: of).model(version: name)
        }
    }
}

struct ModelExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a model in another form.",
        discussion: """
            The form is json, xcdatamodel, or ckdb: the schema of the records that Core Data makes \
            of the model. A FILE that ends with .xcdatamodel or .xcdatamodeld becomes a folder that \
            Xcode opens.
            """)

    @OptionGroup var model: ModelArgument
    @OptionGroup var part: ConfigurationOption
    @Option(help: "json, xcdatamodel or ckdb. By the ending of FILE, or json, when absent.")
    var form: ModelForm?
    @Option(name: .shortAndLong, help: "Write to this FILE instead of standard output.")
    var output = "-"

    private var isFolder: Bool {
        output.hasSuffix(".xcdatamodel") || output.hasSuffix(".xcdatamodeld")
    }

    private var wantedForm: ModelForm {
        if let form { return form }
        if isFolder { return .xcdatamodel }
        return output.hasSuffix(".ckdb") ? .ckdb : .json
    }

    func validate() throws {
        if part.configuration != nil, wantedForm != .ckdb {
            throw ValidationError(
                "--configuration is for the form ckdb: other forms have all of it.")
        }
        if isFolder, wantedForm != .xcdatamodel {
            throw ValidationError("\(output) is a folder of Xcode, and needs the form xcdatamodel.")
        }
    }

    func run() throws {
        let model = try model.read()
        let part = try part.find(in: model)
        try reporting(output == "-" ? self.model.model : output) { () throws(RecordError) in
            if isFolder { return try ModelOutput.writeFolder(model, to: output) }
            try writeWholeFile(
                try ModelOutput.text(model, as: wantedForm, configuration: part), to: output)
        }
    }
}

extension ModelForm: ExpressibleByArgument {}
