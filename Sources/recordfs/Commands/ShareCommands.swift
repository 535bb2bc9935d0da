import ArgumentParser
import RecordControl
import RecordModel
import RecordSync
import RecordWire

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share a zone, or a record and its children.",
        discussion: """
            Others accept the link with recordfs accept. They find the records under shared/. Only \
            invited people can accept; after permit PATH everyone, anyone with the link can. \
            Shared records count towards the quota of their owner. recordfs share PATH prints the \
            link of a share, on a terminal also as a QR code.
            """,
        subcommands: [
            ShareCodeCommand.self, ShareCreateCommand.self, ShareShowCommand.self,
            ShareSetCommand.self, ShareThumbnailCommand.self, ShareAddCommand.self,
            ShareRemoveCommand.self, SharePermitCommand.self, ShareURLCommand.self,
            ShareStopCommand.self, ShareLinkCommand.self, ShareRequestsCommand.self,
            ShareApproveCommand.self, ShareDenyCommand.self,
        ],
        defaultSubcommand: ShareCodeCommand.self)
}

/// The access of a person to a shared object.
enum PermissionArgument: String, ExpressibleByArgument, CaseIterable {
    case none, readOnly = "read-only", readWrite = "read-write"

    var wire: SharePermission {
        switch self {
        case .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }
}

/// The permission of the added people.
struct MemberOptions: ParsableArguments {
    @Flag(help: "Let them also change the content.")
    var write = false
    @Flag(help: "Let them invite others.")
    var admin = false

    /// Returns the members. Options that are not given leave the permission of a person who is
    /// already in the share unchanged: an invitation never takes access away.
    func members(_ addresses: [String]) -> [ShareEdit.Member] {
        addresses.map {
            ShareEdit.Member(
                address: Text($0), permission: write ? .readWrite : nil,
                isAdministrator: admin ? true : nil)
        }
    }
}

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

struct ShareShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the participants of a share.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let share = try place.ask(.show(place.path))
        guard !json else { return Showing.json(share) }
        let everyone = share.stringMember("publicPermission") ?? ""
        Terminal.print("\(share.shownMember("title") ?? "")  \(share.stringMember("url") ?? "")")
        for line in Self.appearance(of: share) { Terminal.print(line) }
        var rows = [["WHO", "MAY", "STATE"]]
        if let owner = share["owner"] {
            rows.append([Self.name(of: owner), "everything", "owner"])
        }
        for participant in share["participants"]?.array ?? [] {
            rows.append([
                Self.name(of: participant),
                Self.words(participant.stringMember("permission") ?? "")
                    + (participant.stringMember("type") == "ADMINISTRATOR" ? ", invite" : ""),
                (participant.stringMember("status") ?? "").lowercased(),
            ])
        }
        if everyone != SharePermission.none.rawValue {
            rows.append(["anybody with the link", Self.words(everyone), ""])
        }
        Terminal.printTable(rows)
    }

    private static func appearance(of share: JSONValue) -> [String] {
        var lines: [String] = []
        if let type = share.shownMember("type") { lines.append("type: \(type)") }
        if let thumbnail = share["thumbnail"] {
            let size = Showing.size(thumbnail.integerMember("size") ?? 0)
            let kind = thumbnail.stringMember("type") ?? "of no kind that is shown"
            lines.append("thumbnail: \(kind), \(size)")
        }
        return lines
    }

    static func name(of person: JSONValue) -> String {
        let name = person.shownMember("name")
        let address = person.shownMember("address") ?? person.shownMember("user") ?? "somebody"
        return name.map { "\($0) <\(address)>" } ?? address
    }

    static func words(_ permission: String) -> String {
        switch SharePermission(rawValue: permission) {
        case .readWrite: "read and write"
        case .readOnly: "read"
        default: "nothing"
        }
    }
}

struct ShareAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Invite people to a share.",
        discussion: """
            Participants get these rights in addition to their own, and lose none. To reduce \
            rights, use recordfs share permit.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var members: MemberOptions
    @Flag(help: "Print the changed share as one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "E-mail addresses, telephone numbers or users.")
    var addresses: [String]

    func run() throws {
        var edit = ShareEdit()
        edit.members = members.members(addresses)
        try path.change(edit, state, json: json)
    }
}

struct ShareRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove participants.",
        discussion: "To invite them again, use recordfs share add.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "The participants to remove; or a link for one person to end.")
    var addresses: [String]

    func run() throws {
        var edit = ShareEdit()
        edit.removed = addresses.map { Text($0) }
        try path.change(edit, state, rehearsal)
    }
}

struct SharePermitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permit", abstract: "Set the access of a participant, or of everyone.",
        discussion: """
            With everyone for WHO, anyone with the link may join. everyone none ends that and \
            removes all participants; invite again those that you want.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "A participant, or everyone.")
    var who: String
    @Argument(help: "none, read-only or read-write.")
    var permission: PermissionArgument

    func run() throws {
        var edit = ShareEdit()
        if who == "everyone" {
            edit.publicPermission = permission.wire
        } else {
            edit.members = [
                ShareEdit.Member(
                    address: Text(who), permission: permission.wire, isPresent: true)
            ]
        }
        try path.change(edit, state, rehearsal)
    }
}

struct ShareURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the link of a share.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let link = try place.ask(.show(place.path)).stringMember("url") ?? ""
        if json {
            Showing.json(.members(["path": .text(place.path.bytes), "url": .text(link)]))
        } else {
            Terminal.print(link)
        }
    }
}

struct AcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Join a share, and print its path.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the share, with its path on this machine, as one JSON object.")
    var json = false
    @Flag(help: "Ask for access without an invitation. The owner approves or denies it.")
    var request = false
    @Argument(help: "The link.")
    var link: String

    func validate() throws { try LinkArgument.validate(link) }

    func run() throws {
        guard !request else { return try state.requestAccess(link, json: json) }
        let reply = try state.access().perform(.sharing(.accept(link: Text(link))), about: link)
        if json {
            Showing.json(reply.result)
        } else {
            Terminal.print(reply.result.stringMember("path") ?? "")
        }
    }
}

enum LinkArgument {
    /// Checks the link.
    ///
    /// Errors: a wrong usage for an empty link.
    static func validate(_ link: String) throws {
        if link.isEmpty { throw ValidationError("The link is empty.") }
    }
}

extension LocatedPath {
    /// Returns the server's answer to a request about shares.
    func ask(_ request: SharingRequest) throws -> JSONValue {
        try store.perform(.sharing(request), about: text).result
    }
}

extension PathArgument {
    func change(_ edit: ShareEdit, _ state: StateOptions, json: Bool = false) throws {
        let place = try located(by: state)
        let share = try place.ask(.change(place.path, edit.json))
        if json { Showing.json(share) }
    }

    func change(
        _ edit: ShareEdit, _ state: StateOptions, _ rehearsal: RehearsalOptions
    ) throws {
        let place = try located(by: state)
        guard rehearsal.dryRun else {
            // The people who lose access without being named.
            let loses =
                edit.publicPermission == nil
                ? [] : try place.ask(.preview(place.path, edit.json))["loses"]?.array ?? []
            try change(edit, state, json: rehearsal.json)
            for person in loses {
                Terminal.error(
                    "\(ShareShowCommand.name(of: person)) lost access, and is not invited.")
            }
            return
        }
        try place.rehearse(.change(edit), json: rehearsal.json)
    }
}
