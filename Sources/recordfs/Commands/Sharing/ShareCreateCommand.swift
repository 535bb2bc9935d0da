import ArgumentParser
import RecordControl
import RecordModel
import RecordSync

struct ShareCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Share a zone or record, and print the link.")

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
    @Argument(help: "The zone or record.")
    var path: PathArgument

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
        let place = try path.located(by: state)
        if moving.dryRun { return try moving.show(place, state, json: json) }
        var edit = ShareEdit()
        try appearance.fill(&edit)
        edit.publicPermission = everyone.wire
        edit.members = members.members(addresses)
        let request = try moving.request(place, edit, state) ?? .create(place.path, edit.json)
        let share = try place.ask(request)
        guard !json else { return Showing.json(share) }
        let link = share.stringMember("url") ?? ""
        Terminal.print(link)
        if qr { try LinkCode.show(link) }
    }
}
