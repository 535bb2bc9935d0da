import ArgumentParser
import RecordControl
import RecordModel
import RecordSync

struct ShareCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Share a zone or records, and print the link.",
        discussion: """
            Objects of an attached model move to a zone of their own, with all objects that \
            relationships connect with them, as Core Data does it.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        name: .customLong("with"), help: "Invite this e-mail address, telephone number or user.")
    var addresses: [String] = []
    @OptionGroup var members: MemberOptions
    @Option(help: "Access for anyone with the link: none, read-only or read-write.")
    var everyone = PermissionArgument.none
    @OptionGroup var appearance: AppearanceOptions
    @OptionGroup var moving: ShareMoveOptions
    @Flag(help: "Print the share as one JSON object.")
    var json = false
    @Flag(help: "Also print the link as a QR code.")
    var qr = false
    @Argument(help: "The zone, the record or the records.")
    var paths: [PathArgument]

    func validate() throws {
        if json, qr { throw ValidationError("--json and --qr are different things to print.") }
        guard moving.into != nil else { return }
        if !addresses.isEmpty || !appearance.isEmpty || everyone != .none || members.write
            || members.admin
        {
            throw ValidationError(
                "--into adds to a share that there is: share add, permit and set change that.")
        }
    }

    func run() throws {
        let places = try paths.map { path in try path.located(by: state) }
        if moving.dryRun { return try moving.show(places, state, json: json) }
        var edit = ShareEdit()
        try appearance.fill(&edit)
        edit.publicPermission = everyone.wire
        edit.members = members.members(addresses)
        let request =
            try moving.request(places, edit, state) ?? .create(places[0].path, edit.json)
        let share = try places[0].store.perform(.sharing(request), about: places.subject).result
        guard !json else { return Showing.json(share) }
        let link = share.stringMember("url") ?? ""
        Terminal.print(link)
        if qr { try LinkCode.show(link) }
    }
}
