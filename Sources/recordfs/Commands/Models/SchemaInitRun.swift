import Glibc
import RecordControl
import RecordModel
import RecordObjects
import RecordSync
import RecordWire

/// A run of `recordfs schema init` for an account.
struct SchemaInitRun {
    let session: AccountSession
    let zone: String
    let schema: SchemaDocument
    let samples: [SchemaSample]
    let renames: DeploymentCheck

    private var zoneIdentifier: ZoneIdentifier { ZoneIdentifier(zone: ZoneName(zone)) }
    private var container: String { session.account.container.string }

    func perform(isRehearsal: Bool) throws {
        guard session.account.environment == .development else {
            throw CommandFailure(
                session.account.server,
                "this account is of production. A schema is made in development, and deployed from "
                    + "there: recordfs-server container schema deploy \(container).")
        }
        let known = try serverSchema()
        let addition = known.map { SchemaAddition(of: schema, to: $0) }
        let renamed = known.map { renames.renames(over: $0) } ?? []
        if isRehearsal { try rehearse(addition, renamed) }
        let refused = (addition?.refused ?? []).map { Self.line($0) } + renamed.map(Self.line)
        guard refused.isEmpty else {
            if !isRehearsal { for line in refused { Terminal.error(line) } }
            throw refusal
        }
        guard !isRehearsal else { return }
        try upload(addition)
    }

    /// Returns the schema of the server. Nil where only the server itself can compare.
    private func serverSchema() throws(CommandFailure) -> SchemaDocument? {
        guard session.account.profile == .recordfs else { return nil }
        return try session.waiting { transport throws(SyncProblem) in
            try await ServerSchema(transport).read()
        }
    }

    // MARK: Before

    private func rehearse(
        _ addition: SchemaAddition?, _ renamed: [String]
    ) throws(CommandFailure) {
        guard let addition else {
            for item in SchemaAddition(of: schema, to: SchemaDocument()).items {
                Terminal.print(Self.line(item, isCompared: false))
            }
            return Terminal.error(Self.uncompared)
        }
        for item in addition.items { Terminal.print(Self.line(item)) }
        for line in renamed { Terminal.print(Self.line(line)) }
        let zone = zoneIdentifier
        let hasZone = try session.waiting { transport throws(SyncProblem) in
            try await SchemaInitialisation(transport, zone: zone).hasZone()
        }
        Terminal.print("zone \(self.zone): \(hasZone ? "there" : "new")")
    }

    private static let uncompared =
        "note: this account may not read the schema of the server, so nothing was compared. The "
        + "server refuses what does not fit."

    private var refusal: CommandFailure {
        CommandFailure(
            container,
            "the schema of development does not go with this model, for the reasons above. "
                + "Nothing was sent. Give what differs another name in the model, without a "
                + "Renaming ID. What was never deployed goes with recordfs-server container "
                + "schema reset, which erases all records of development.")
    }

    private static func line(_ rename: String) -> String {
        "\(rename): it is renamed in the model"
    }

    private static func line(_ item: SchemaAddition.Item, isCompared: Bool = true) -> String {
        let name = item.field.map { "\(item.type).\($0.name)" } ?? "\(item.type)"
        let definition = item.field.map { field in
            String(field.text.dropFirst(SchemaText.quoted(field.name.bytes).count + 1))
        }
        let words =
            switch item.state {
            case .new:
                ([isCompared ? "new" : nil, definition].compactMap(\.self))
                    .joined(separator: ", ")
            case .there: "there"
            case .indexed(let names): "there, and gets \(names.joined(separator: " "))"
            case .conflict(let known):
                "is \(known) on the server, and would be \(item.field?.typeText ?? "")"
            case .tooManyFields(let count):
                "would have \(count) fields; a type has at most \(SchemaAddition.fieldsMax)"
            }
        return words.isEmpty ? name : "\(name): \(words)"
    }

    // MARK: The run

    private func upload(_ addition: SchemaAddition?) throws {
        let path = "\(session.store.directory)/schema-sample"
        // A killed run leaves it.
        unlink(path)
        Interruption.delay()
        let (zone, samples) = (zoneIdentifier, samples)
        let outcome: SchemaInitialisation.Outcome
        do throws(CommandFailure) {
            outcome = try session.waiting { transport throws(SyncProblem) in
                if let addition, !addition.isEmpty {
                    try await ServerSchema(transport).add(addition.merged)
                }
                return try await SchemaInitialisation(transport, zone: zone) {
                    Interruption.isWanted
                }.run(samples, assetPath: path)
            }
        } catch {
            if Interruption.isWanted {
                error.show()
                Interruption.obey()
            }
            throw error
        }
        try tell(outcome, addition)
    }

    private func tell(
        _ outcome: SchemaInitialisation.Outcome, _ addition: SchemaAddition?
    ) throws(CommandFailure) {
        if outcome.leftovers > 0 {
            Terminal.error(
                "Deleted \(Showing.count(outcome.leftovers, "sample record")) of an interrupted run."
            )
        }
        if outcome.hasMadeZone { Terminal.error("The zone \(zone) was made, and stays.") }
        guard let addition else {
            Terminal.print(
                "The server took \(Showing.count(samples.count, "sample record")) with all fields, "
                    + "and deleted \(samples.count == 1 ? "it" : "them").")
            return
        }
        let left = try serverSchema().map { SchemaAddition(of: schema, to: $0) }
        if let missing = left?.items.filter({ $0.state != .there }), !missing.isEmpty {
            for item in missing { Terminal.error(Self.line(item)) }
            throw CommandFailure(
                container,
                "the schema of development lacks what is above: another program changed it "
                    + "meanwhile. Try again.")
        }
        Terminal.print(
            "The development schema of \(container) has all "
                + "\(Showing.count(schema.types.count, "record type")) of the model: "
                + "\(Self.news(of: addition)).")
    }

    private static func news(of addition: SchemaAddition) -> String {
        let new = addition.items.filter { $0.state == .new }
        let types = new.count { $0.field == nil }
        let indexed = addition.items.count {
            if case .indexed = $0.state { true } else { false }
        }
        var parts: [String] = []
        if types > 0 { parts.append(Showing.count(types, "new type")) }
        if new.count > types { parts.append(Showing.count(new.count - types, "new field")) }
        if indexed > 0 { parts.append("new indexes of \(Showing.count(indexed, "field"))") }
        return parts.isEmpty ? "nothing was new" : parts.joined(separator: ", ")
    }
}
