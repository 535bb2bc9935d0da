import Glibc
package import RecordModel
package import RecordObjects

/// A form in which a model is written.
package enum ModelForm: String, CaseIterable, Sendable {
    /// Our JSON form.
    case json
    /// The `contents` of an `.xcdatamodel`.
    case xcdatamodel
    /// The schema that CloudKit needs for the model's records.
    case ckdb
}

/// Writes models.
package enum ModelOutput {
    /// Returns a model as a text.
    ///
    /// Errors: `invalidArgument`, `tooLarge`; with `ckdb` those of `MirroredSchema`.
    package static func text(
        _ model: ObjectModel, as form: ModelForm, configuration: Configuration? = nil
    ) throws(RecordError) -> [UInt8] {
        switch form {
        case .json: try ModelText.readable(JSONModelWriter.print(model))
        case .xcdatamodel: try ModelText.readable(try XMLModelWriter.print(model))
        case .ckdb: try MirroredSchema.document(model, configuration: configuration).print()
        }
    }

    /// Writes a model as the folder of an `.xcdatamodel`, or as an `.xcdatamodeld` with one
    /// version. The only version of an `.xcdatamodeld` that is there is replaced.
    ///
    /// Errors: `alreadyExists` for a folder with several versions; those of `text`, `mkdir` and
    /// writing.
    package static func writeFolder(_ model: ObjectModel, to path: String) throws(RecordError) {
        let text = try text(model, as: .xcdatamodel)
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        try make(folder)
        guard folder.hasSuffix(".xcdatamodeld") else {
            return try writeWholeFile(text, to: folder + "/contents")
        }
        let there = try ModelFile.versionNames(in: folder)
        guard there.count <= 1 else {
            throw RecordError(
                .alreadyExists,
                "it has \(there.count) versions. Write into one of the \(ModelFile.versionEnding) in "
                    + "it, or into another folder.")
        }
        let stem = folder.split(separator: "/").last?.dropLast(".xcdatamodeld".count) ?? ""
        let version =
            (there.first ?? (stem.isEmpty ? "Model" : String(stem))) + ModelFile.versionEnding
        try make("\(folder)/\(version)")
        try writeWholeFile(text, to: "\(folder)/\(version)/contents")
        try writeWholeFile(
            try ModelText.printCurrentVersion(version), to: folder + "/.xccurrentversion")
    }

    private static func make(_ folder: String) throws(RecordError) {
        guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
            throw FileReading.failure(folder, errno)
        }
    }
}
