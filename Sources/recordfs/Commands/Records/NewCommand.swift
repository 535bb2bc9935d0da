import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a record, and print its path.",
        discussion: """
            Its text is a skeleton: the fields of its type with null, or the attributes of an \
            entity with the values of new objects. A name that is there is refused. A missing zone \
            or record type is created. To go on: vim "$(recordfs new RecordFS/private/ZONE/TYPE)".
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Argument(help: "The record type, DATABASE/ZONE/TYPE, or its directory on a mount.")
    var type: PathArgument
    @Argument(help: "The name of the record; a UUID by default.")
    var name: String?

    func run() throws {
        let place = try type.located(by: state)
        let target = try place.reporting { () throws(RecordError) in try path(in: place.path) }
        let reply = try place.store.perform(.make(target), about: name ?? type.text)
        let stem = Stem(bytes: Array((reply.result.stringMember("name") ?? "").utf8))
        Terminal.print(
            PathSpelling(for: place.store).spell(target.directory.appending(stem), in: place)
                + [0x0A])
    }

    private func path(in directory: RecordPath) throws(RecordError) -> RecordPath {
        guard directory.type != nil, directory.item == nil else {
            throw RecordError(.invalidArgument, "is no record type. Write DATABASE/ZONE/TYPE.")
        }
        guard let name else { return directory }
        let path = try RecordPath("\(directory)/\(name)")
        // A name with a slash would be a path.
        guard path.directory == directory, !name.contains("/"), path.item != nil else {
            throw RecordError(.invalidName, "\"\(name)\" is no name of a record.")
        }
        return path
    }
}
