import ArgumentParser
import RecordControl
import RecordModel
import RecordObjects
import RecordSync
import RecordWire

struct SchemaInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a model's types on the server, in development.",
        discussion: """
            Uploads a sample record of each record type that Core Data makes of the model, with a \
            value in every field, and deletes it. The types and fields stay. Nothing is removed or \
            changed, and nothing is sent when the model or one of its fields does not fit. A run \
            that is interrupted leaves no sample record, or the next run deletes it.
            """)

    /// The zone in which Core Data has the records of a private database.
    static let defaultZone = "com.apple.coredata.cloudkit.zone"

    @OptionGroup var state: StateOptions
    @OptionGroup var model: ModelArgument
    @OptionGroup var part: ConfigurationOption
    @Option(help: "The zone of the sample records. It is made when it is missing.")
    var zone = defaultZone
    @Flag(help: "Show what would be added, and send nothing.")
    var dryRun = false
    @Flag(help: "Print the schema text and the sample records.")
    var print = false

    func validate() throws {
        guard ZoneName(zone).isValid else {
            throw ValidationError("\"\(zone)\" cannot be the name of a zone.")
        }
    }

    func run() throws {
        let model = try model.read()
        let part = try part.find(in: model)
        try ModelFailures.refuse(
            ModelFailures.mirroring(model, part), of: self.model.model,
            "CloudKit cannot hold this model.")
        let schema = try reporting(self.model.model) { () throws(RecordError) in
            try MirroredSchema.document(model, configuration: part)
        }
        let texts = MirroredTexts(model, configuration: part)
        let samples = SchemaSample.samples(of: schema) { texts.text($1, of: $0) }
        if print { try show(schema, samples) }
        let session = try AccountSession(state.access())
        let run = SchemaInitRun(
            session: session, zone: zone, schema: schema, samples: samples,
            renames: DeploymentCheck(model, configuration: part))
        try session.exclusively { try run.perform(isRehearsal: dryRun) }
    }

    private func show(_ schema: SchemaDocument, _ samples: [SchemaSample]) throws {
        Terminal.print(schema.print())
        for sample in samples {
            Showing.json(
                try reporting { () throws(RecordError) in try sample.json() })
        }
    }
}
