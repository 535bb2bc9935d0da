import ArgumentParser
import RecordControl
import RecordModel
import RecordSync

/// The details of a share that people see before they accept it.
struct AppearanceOptions: ParsableArguments {
    @Option(help: "The title that people see before they accept; by default the name.")
    var title: String?
    @Option(help: "The type of the content, for programs, such as public.folder.")
    var type: String?
    @Option(
        help: "A picture for the page of the link: PNG, JPEG, WebP or GIF, 256 KiB at most.",
        completion: .file())
    var thumbnail: String?

    var isEmpty: Bool { title == nil && type == nil && thumbnail == nil }

    func fill(_ edit: inout ShareEdit) throws {
        edit.title = title.map { Text($0) }
        if let type {
            edit.type = .value(
                try reporting("--type") { () throws(RecordError) in
                    try ShareEdit.type(Text(type))
                })
        }
        if let thumbnail {
            edit.thumbnail = .value(
                try reporting(thumbnail) { () throws(RecordError) in
                    try ShareThumbnail(
                        try readWholeFile(thumbnail, limit: ShareThumbnail.bytesMax))
                })
        }
    }
}

struct ShareSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the title, the type or the thumbnail of a share.",
        discussion: "Options that you leave out change nothing.")

    @OptionGroup var state: StateOptions
    @OptionGroup var appearance: AppearanceOptions
    @Flag(help: "Remove the type.")
    var noType = false
    @Flag(help: "Remove the thumbnail.")
    var noThumbnail = false
    @Flag(help: "Print the changed share as one JSON object.")
    var json = false
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func validate() throws {
        guard !(noType && appearance.type != nil), !(noThumbnail && appearance.thumbnail != nil)
        else {
            throw ValidationError("You cannot set and remove it at once.")
        }
        guard noType || noThumbnail || !appearance.isEmpty else {
            throw ValidationError("Say what to change: --title, --type or --thumbnail.")
        }
    }

    func run() throws {
        var edit = ShareEdit()
        try appearance.fill(&edit)
        if noType { edit.type = .removal }
        if noThumbnail { edit.thumbnail = .removal }
        try path.change(edit, state, json: json)
    }
}

struct ShareThumbnailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Print the picture of a share.",
        discussion: """
            The command prints the bytes as they were stored. recordfs share show prints their type.
            """)

    @OptionGroup var state: StateOptions
    @Option(name: .shortAndLong, help: "Write to this file instead of standard output.")
    var output = "-"
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let text = try place.ask(.thumbnail(place.path))["$bytes"]?.string ?? ""
        guard let bytes = Base64.decode(text.utf8) else {
            throw CommandFailure(path.text, "the daemon does not answer with bytes.")
        }
        try reporting(output) { () throws(RecordError) in try writeWholeFile(bytes, to: output) }
    }
}
