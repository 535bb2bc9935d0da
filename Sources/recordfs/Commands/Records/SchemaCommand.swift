import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Show, check or change the development schema.",
        subcommands: [
            SchemaShowCommand.self, SchemaCheckCommand.self, SchemaApplyCommand.self,
            SchemaInitCommand.self,
        ])
}

struct SchemaShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the schema text of all or some record types.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The record types.")
    var types: [String] = []

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        try access.reporting { () throws(RecordError) in
            let known = try store.schemaTypes()
            let names = types.isEmpty ? known : types.map { RecordTypeName($0) }
            var schemas: [(RecordTypeName, RecordSchema)] = []
            for name in names {
                guard known.contains(name) else {
                    throw RecordError(.notFound, "there is no record type \"\(name)\".")
                }
                schemas.append((name, try store.schema(of: name)))
            }
            Terminal.print(SchemaText.print(schemas))
        }
    }
}

struct SchemaCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Show what a schema text would change.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The schema text; - is standard input.", completion: .file())
    var file: String

    func run() throws {
        let wanted = try reporting(file) { () throws(RecordError) in
            try SchemaText.parse(try readWholeFile(file))
        }
        let access = try state.access()
        let store = try access.reader()
        let lines = try access.reporting { () throws(RecordError) in
            var lines: [String] = []
            for (name, schema) in wanted {
                lines += Self.differences(name, from: try store.schema(of: name), to: schema)
            }
            return lines
        }
        for line in lines { Terminal.print(line) }
    }

    private static func differences(
        _ type: RecordTypeName, from old: RecordSchema, to new: RecordSchema
    ) -> [String] {
        var lines: [String] = []
        let old = RecordSchema(fields: old.namedFields)
        for field in new.fields {
            switch old.type(of: field.name) {
            case nil: lines.append("\(type).\(field.name): new, \(field.type.name)")
            case let known? where known != field.type:
                lines.append("\(type).\(field.name): \(known.name) would become \(field.type.name)")
            default: break
            }
        }
        for field in old.fields where new.type(of: field.name) == nil {
            lines.append("\(type).\(field.name): would be removed")
        }
        return lines
    }
}

struct SchemaApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Apply a schema text to the development schema.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The schema text; - is standard input.", completion: .file())
    var file: String

    func run() throws {
        let text = try reporting { () throws(RecordError) in try readWholeFile(file) }
        try state.access().perform(.applySchema(text), about: file)
    }
}
