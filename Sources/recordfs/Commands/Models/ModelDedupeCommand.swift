import ArgumentParser
import RecordControl
import RecordModel
import RecordObjects
import RecordStore

struct ModelDedupeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dedupe", abstract: "Say by which attributes two objects are the same.",
        discussion: """
            Objects of private zones with equal values are merged after the next download: the one \
            with the lowest UUID stays and gets the relationships of the others, which are removed \
            once the server and another download have confirmed it. Without an entity, the rules of \
            the attached model are printed. The store must not be mounted.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The entity, as in Tag.")
    var entity: String?
    @Argument(help: "The attributes, as in name.")
    var attributes: [String] = []
    @Flag(help: "Merge no objects of the entity.")
    var off = false
    @Flag(
        name: [.customShort("n"), .long], help: "Print what would be merged, and change nothing.")
    var dryRun = false

    func validate() throws {
        if entity == nil, off { throw ValidationError("--off needs an entity.") }
        if entity != nil, off != attributes.isEmpty {
            throw ValidationError(
                off ? "--off takes no attributes." : "Name the attributes, or --off.")
        }
    }

    func run() throws {
        var lines: [String] = []
        try ModelAttachCommand.change(try state.access()) { transaction throws(RecordError) in
            let model = try wanted(transaction)
            if dryRun {
                lines = try transaction.duplicates.groups(by: model).map(Self.line)
            } else if entity == nil {
                lines = Self.rules(of: model)
            } else {
                try transaction.models.attach(model)
            }
        }
        for line in lines { Terminal.print(line.onOneLine) }
    }

    /// Returns the model with the rule that was asked for.
    private func wanted(_ transaction: Transaction) throws(RecordError) -> AttachedModel {
        let attached = try ModelAttachCommand.model(transaction)
        guard let entity else { return attached }
        let model = try attached.mapping.model.identifying(entity, by: attributes)
        return try attached.with(model)
    }

    private static func rules(of model: AttachedModel) -> [String] {
        model.mapping.model.entities.compactMap { entity in
            entity.userInfo.first { $0.key == ObjectIdentity.key }.map {
                "\(entity.name): \($0.value)"
            }
        }
    }

    private static func line(of group: DuplicateGroup) -> String {
        let others = group.objects.dropFirst().map(\.description).joined(separator: ", ")
        let stays = "private/\(group.zone)/\(group.type)/\(group.objects[0]).json"
        return "\(stays) stays, without \(others)"
    }
}
