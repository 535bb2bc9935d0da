import ArgumentParser
import RecordServerHTTP

#if canImport(Glibc)
import Glibc
#endif

/// The place of a server's data. All subcommands share this option.
struct DataOptions: ParsableArguments {
    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            """
            The data directory of the server. Default: $RECORDFS_SERVER_DATA, else \
            $XDG_DATA_HOME/recordfs-server, else ~/.local/share/recordfs-server.
            """,
            valueName: "dir"))
    var data: String?

    /// The directory, not checked.
    var directory: String {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name), value.pointee != 0 else { return nil }
            return String(cString: value)
        }
        if let data { return data }
        if let directory = variable("RECORDFS_SERVER_DATA") { return directory }
        if let home = variable("XDG_DATA_HOME") { return home + "/recordfs-server" }
        return (variable("HOME") ?? ".") + "/.local/share/recordfs-server"
    }

    /// The configuration for commands that need only the place of the data.
    var configuration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = directory
        return configuration
    }
}
