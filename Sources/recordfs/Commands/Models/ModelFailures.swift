import RecordControl
import RecordModel
import RecordObjects

/// The reasons for which CloudKit cannot hold a model, as paragraphs.
enum ModelFailures {
    /// Returns the rules that the model breaks, all at once.
    static func mirroring(
        _ model: ObjectModel, _ part: RecordObjects.Configuration?
    ) -> [String] {
        var failures = MirroringCheck(model, configuration: part).failures
        do throws(RecordError) {
            _ = try MirroredSchema.document(model, configuration: part)
        } catch {
            failures.append(error.description)
        }
        if model.entities.isEmpty { failures.append("The model has no entities.") }
        return failures
    }

    /// Prints failures, where there are some, and ends the command.
    ///
    /// - Parameter sentence: what the failures mean.
    static func refuse(
        _ failures: [String], of model: String, _ sentence: String
    ) throws(CommandFailure) {
        guard !failures.isEmpty else { return }
        Terminal.print(failures.joined(separator: "\n\n"))
        throw CommandFailure(model, "\(sentence) The reasons are above.")
    }

    /// Returns what a deployed model or schema must keep and the model does not.
    ///
    /// - Parameter deployed: the file of a model, or of a schema text, by its ending.
    static func deployment(
        _ model: ObjectModel, _ part: RecordObjects.Configuration?, over deployed: String
    ) throws(CommandFailure) -> [String] {
        let check = DeploymentCheck(model, configuration: part)
        return try reporting(deployed) { () throws(RecordError) in
            guard deployed.hasSuffix(".ckdb") else {
                return try check.failures(after: try ModelFile(path: deployed).model())
            }
            return try check.failures(
                over: try SchemaDocument(parsing: try readWholeFile(deployed)))
        }
    }
}
