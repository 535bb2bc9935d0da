import ArgumentParser
import RecordControl
import RecordModel
import RecordSync
import RecordWire

struct ShareLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Make a link by which one person can join, and print it.",
        discussion: """
            Whoever accepts it first is a participant, and nobody else by that link. recordfs share \
            show --json lists those that nobody has used.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Who joins by it may also change what is shared.")
    var write = false
    @Flag(help: "Print the link as a QR code too.")
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

    /// 128 bits in hexadecimal. It is no secret: the server draws that.
    private static func randomID() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

struct ShareRequestsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests", abstract: "Say who asks for access.",
        discussion: """
            Who has the link and is not invited can ask, with recordfs accept LINK --request or at \
            the page of the link. recordfs share approve lets them in, deny does not. Others may ask unless \
            you --refuse that.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "As a JSON array.")
    var json = false
    @Flag(help: "From now on people may ask, or may not: then those who wait are forgotten.")
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
                        ShareShowCommand.name(of: request),
                        request.stringMember("user") ?? "", request.stringMember("since") ?? "",
                    ]
                })
    }
}

struct ShareApproveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Let somebody in who asks for access.",
        discussion: "They accept the link then, as if they had been invited.")

    @OptionGroup var state: StateOptions
    @Flag(help: "They may also change what is shared.")
    var write = false
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "The address or the user, as recordfs share requests has them.")
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
        commandName: "deny", abstract: "Do not let somebody in who asks for access.",
        discussion: "They are not told, and can ask again unless you block them.")

    @OptionGroup var state: StateOptions
    @Flag(help: "They can neither ask again nor come in by any link.")
    var block = false
    @Argument(help: "The zone or record.")
    var path: PathArgument
    @Argument(help: "The address or the user, as recordfs share requests has them.")
    var who: String

    func run() throws {
        var edit = ShareEdit()
        edit.denied = [Text(who)]
        edit.blocksDenied = block
        try path.change(edit, state)
    }
}

extension StateOptions {
    /// Asks for access to what a link leads to.
    func requestAccess(_ link: String, json: Bool) throws {
        _ = try access().perform(.sharing(.requestAccess(link: Text(link))), about: link)
        guard !json else { return Showing.json(["requested": true]) }
        Terminal.print(
            "If there is such a share, who shares it has been asked. Accept the link again later.")
    }
}
