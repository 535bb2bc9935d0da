import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server container schema ...`: the operations that administrators have over HTTP.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Read and change the schema of a container.",
        subcommands: [Export.self, Validate.self, Import.self, Deploy.self, Reset.self])

    /// Calls a schema operation as an administrator of the machine.
    static func call(
        _ endpoint: Endpoint, _ container: ContainerKey, _ members: [JSONMember] = [],
        data: OpenedData, options: DataOptions
    ) async throws(ServerError) -> JSONValue {
        let assets = try StorageFactory.openAssets(options.configuration)
        guard try await data.accounts.containers().contains(container.container) else {
            throw ServerError(.notFound, "There is no such container on this server.")
        }
        let service = RecordService(
            storage: data.storage, assets: assets, seal: Seal(key: SecureRandom.bytes(32)),
            settings: ServiceSettings(), push: PushHub(storage: data.storage))
        let root = UserRow(
            name: UserName("_root"), emailAddress: "", passwordHash: "", isAdministrator: true,
            createdMilliseconds: 0)
        let answer = try await service.answer(
            .object(members),
            OperationContext(
                endpoint: endpoint, container: container, scope: .public, caller: .user(root),
                requestID: "command", now: data.now, baseURL: "http://localhost"))
        do {
            return try JSONParser.parse(answer)
        } catch {
            throw ServerError(.internalError, "The server's answer is no JSON.")
        }
    }
}

extension SchemaCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the schema in the schema language (.ckdb).")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @OptionGroup var environment: EnvironmentOption

        func run() async throws {
            let key = ContainerKey(
                container: container.text, environment: environment.environment)
            try await OpenedData.use(data) { (opened) throws(ServerError) in
                let answer = try await SchemaCommand.call(
                    .schemaExport, key, data: opened, options: data)
                print(answer["schema"]?.string ?? "", terminator: "")
            }
        }
    }

    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a schema, without changing anything.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "The .ckdb file; - for standard input.")
        var file: String

        func run() async throws {
            try await SchemaCommand.send(.schemaValidate, file, container.text, data)
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the schema of the development environment.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "The .ckdb file; - for standard input.")
        var file: String

        func run() async throws {
            try await SchemaCommand.send(.schemaImport, file, container.text, data)
        }
    }

    struct Deploy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the development schema to production, without records.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName

        func run() async throws {
            try await SchemaCommand.act(.schemaDeploy, container.text, data)
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reset development to the production schema, and erase its records.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Flag(help: "Erase all records of the development environment without asking.")
        var yes = false

        func validate() throws {
            guard yes else {
                throw ValidationError("This erases all records of development: add --yes.")
            }
        }

        func run() async throws {
            try await SchemaCommand.act(.schemaReset, container.text, data)
        }
    }

    fileprivate static func send(
        _ endpoint: Endpoint, _ file: String, _ container: Text, _ options: DataOptions
    ) async throws {
        let schema = Text(utf8: try InputFile.read(file, limit: 4 << 20))
        let key = ContainerKey(container: container, environment: .development)
        try await OpenedData.use(options) { (opened) throws(ServerError) in
            _ = try await call(
                endpoint, key, [JSONMember(key: "schema", value: .string(schema))], data: opened,
                options: options)
        }
    }

    fileprivate static func act(_ endpoint: Endpoint, _ container: Text, _ options: DataOptions)
        async throws
    {
        let key = ContainerKey(container: container, environment: .development)
        try await OpenedData.use(options) { (opened) throws(ServerError) in
            _ = try await call(endpoint, key, data: opened, options: options)
        }
    }
}
