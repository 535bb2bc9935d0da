import ArgumentParser
import RecordControl
import RecordModel
import RecordSync
import RecordWire

struct ShareLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Create a link for one person, and print it.",
        discussion: """
            The first person to accept the link becomes a participant; nobody else can join by it. \
            recordfs share show --json lists the unused links.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Let this person also change the content.")
    var write = false
    @Flag(help: "Also print the link as a QR code.")
    var qr = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let id = Text(Self.randomID())
        var edit = ShareEdit()
        edit.link = ShareEdit.NewLink(id: id, permission: write ? .readWrite : .readOnly)
        let share = try place.ask(.change(place.path, edit.json))
        let made = share["links"]?.array?.first { $0["id"]?.string == id }
        guard let url = made?.stringMember("url") else {
            throw CommandFailure(path.text, "the server makes no links for one person.")
        }
        Terminal.print(url)
        if qr { try LinkCode.show(url) }
    }

    /// Returns 128 bits in hexadecimal. The number is no secret: the server creates the secret.
    private static func randomID() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

struct ShareRequestsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests", abstract: "List the people who ask for access.",
        discussion: """
            People who have the link but no invitation can ask, with recordfs accept LINK \
            --request or on the page of the link. Answer with recordfs share approve or deny. To \
            allow no requests, use --refuse.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print a JSON array.")
    var json = false
    @Flag(help: "Allow requests, or refuse them. Refusing also deletes the waiting requests.")
    var takes: Takes?
    @Argument(help: "The zone or record.")
    var path: PathArgument

    enum Takes: String, EnumerableFlag {
        case allow, refuse
    }

    func run() throws {
        if let takes {
            var edit = ShareEdit()
            edit.takesRequests = takes == .allow
            return try path.change(edit, state)
        }
        let place = try path.located(by: state)
        let requests = try place.ask(.show(place.path))["requests"]?.array ?? []
        guard !json else { return Showing.json(.array(requests)) }
        guard !requests.isEmpty else { return }
        Terminal.printTable(
            [["WHO", "USER", "SINCE"]]
                + requests.map { request in
                    [
                        ShareWords.name(of: request),
                        request.stringMember("user") ?? "", request.stringMember("since") ?? "",
                    ]
                })
    }
}

struct ShareApproveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a request for access.",
        discussion: "The person can then accept the link, like an invited person.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Let this person also change the content.")
    var write = false
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "The address or the user, from recordfs share requests.")
    var who: String

    func run() throws {
        var edit = ShareEdit()
        edit.approved = [
            ShareEdit.Member(address: Text(who), permission: write ? .readWrite : .readOnly)
        ]
        try path.change(edit, state)
    }
}

struct ShareDenyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Refuse a request for access.",
        discussion: "The person gets no message, and can ask again unless you block them.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Block the person: they cannot ask again, or join by any link.")
    var block = false
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "The address or the user, from recordfs share requests.")
    var who: String

    func run() throws {
        var edit = ShareEdit()
        edit.denied = [Text(who)]
        edit.blocksDenied = block
        try path.change(edit, state)
    }
}

extension StateOptions {
    /// Asks for access to the share of a link.
    func requestAccess(_ link: String, json: Bool) throws {
        _ = try access().perform(.sharing(.requestAccess(link: Text(link))), about: link)
        guard !json else { return Showing.json(["requested": true]) }
        Terminal.print(
            "If there is such a share, its owner was asked. Accept the link again later.")
    }
}
