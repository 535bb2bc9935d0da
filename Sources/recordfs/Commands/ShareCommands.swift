import ArgumentParser
import RecordControl
import RecordModel
import RecordSync
import RecordWire

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share a zone, or a record with what hangs on it.",
        discussion: """
            Others accept the link with recordfs accept, and find what is shared under shared/. Only \
            who is invited can; with permit PATH everyone, anybody who has the link. What is shared, \
            its owner pays for. recordfs share PATH prints the link of a share, on a terminal also as \
            a QR code.
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

/// What somebody may do with what is shared.
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

/// The permission of those who are added.
struct MemberOptions: ParsableArguments {
    @Flag(help: "They may also change what is shared.")
    var write = false
    @Flag(help: "They may invite others.")
    var admin = false

    /// What is not said is as it was for who is in the share already: to invite takes nothing away.
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
        commandName: "create", abstract: "Share it, and print the link.")

    @OptionGroup var state: StateOptions
    @Option(
        name: .customLong("with"), help: "Whom: an e-mail address, a telephone number or a user.")
    var addresses: [String] = []
    @OptionGroup var members: MemberOptions
    @Option(help: "What anybody with the link may do: none, read-only or read-write.")
    var everyone = PermissionArgument.none
    @OptionGroup var appearance: AppearanceOptions
    @OptionGroup var moving: ShareMoveOptions
    @Flag(help: "Print the share as one JSON object.")
    var json = false
    @Flag(help: "Print the link as a QR code too.")
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
        commandName: "show", abstract: "Say with whom it is shared.")

    @OptionGroup var state: StateOptions
    @Flag(help: "As one JSON object.")
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
        commandName: "add", abstract: "Invite somebody.",
        discussion: """
            Who is in the share already gets what is said besides, and loses nothing: recordfs share \
            permit does that.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var members: MemberOptions
    @Flag(help: "Print the share, as it is then, as one JSON object.")
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
        commandName: "remove", abstract: "Take the share from somebody.",
        discussion: "They can have it again: recordfs share add.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "Who has it no longer; or a link for one person, which ends.")
    var addresses: [String]

    func run() throws {
        var edit = ShareEdit()
        edit.removed = addresses.map { Text($0) }
        try path.change(edit, state, rehearsal)
    }
}

struct SharePermitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permit", abstract: "Say what a participant, or everyone, may do.",
        discussion: """
            With everyone for WHO, anybody who has the link may join, or nobody any more: then all \
            participants go who were not invited again.
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
        commandName: "url", abstract: "Print the link.")

    @OptionGroup var state: StateOptions
    @Flag(help: "As one JSON object.")
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
        commandName: "accept", abstract: "Join what somebody shares, and print where it is.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the share, with its path here, as one JSON object.")
    var json = false
    @Flag(help: "Ask for access, without an invitation. Who shares it lets you in, or does not.")
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
    /// Errors: a wrong usage for none.
    static func validate(_ link: String) throws {
        if link.isEmpty { throw ValidationError("The link is empty.") }
    }
}

extension LocatedPath {
    /// What the server answers to a question about shares.
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
            // Whom it takes the share from without their being named.
            let loses =
                edit.publicPermission == nil
                ? [] : try place.ask(.preview(place.path, edit.json))["loses"]?.array ?? []
            try change(edit, state, json: rehearsal.json)
            for person in loses {
                Terminal.error(
                    "\(ShareShowCommand.name(of: person)) has it no longer, nor is invited.")
            }
            return
        }
        try place.rehearse(.change(edit), json: rehearsal.json)
    }
}
