import ArgumentParser
import RecordModel
import RecordSync
import RecordWire

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
