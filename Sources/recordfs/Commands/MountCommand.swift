import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordMount

struct MountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Show the records of a store as a directory.",
        discussion: """
            Returns when the directory can be used; a process in the background serves it until \
            recordfs unmount. The directory is made when missing. A mount whose process died is \
            mounted anew.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Serve in this process, until unmount, SIGTERM or SIGINT.")
    var foreground = false
    @Flag(help: "Refuse every change.")
    var readOnly = false
    @Flag(help: "Let other users in; needs user_allow_other in /etc/fuse.conf.")
    var allowOther = false
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "Mount options, separated by commas: ro, allow_other, xattr, grace=SECONDS, those of fuse.",
            valueName: "options"))
    var options: [String] = []
    @Option(help: .hidden)
    var readyDescriptor: Int32?
    @Option(help: .hidden)
    var threads = 4
    @Argument(help: "The directory; ~/RecordFS by default.", completion: .directory)
    var mountpoint: String?

    func run() throws {
        let settings = try MountSettings(self)
        if foreground {
            try MountService(settings: settings, readyDescriptor: readyDescriptor).run()
        } else {
            try settings.prepareMountpoint()
            try BackgroundMount(settings: settings).start()
            Terminal.print("Mounted at \(settings.mountpoint). recordfs unmount ends it.")
        }
    }
}

/// What to mount where, from arguments, `-o` options and config.json.
struct MountSettings {
    let mountpoint: String
    let directory: String
    let isReadOnly: Bool
    let allowsOther: Bool
    let hasExtendedAttributes: Bool
    let grace: Duration
    let threads: Int
    /// Options that go to libfuse as they are.
    let extraOptions: [String]

    /// Options of fstab that are for others than the file system.
    private static let ignored: Set<String> = [
        "rw", "defaults", "auto", "noauto", "nofail", "user", "users", "nouser", "_netdev", "dev",
        "nodev", "suid", "nosuid", "exec", "noexec", "atime", "noatime", "relatime",
    ]

    init(_ command: MountCommand) throws(CommandFailure) {
        let configuration = try command.state.configuration()
        var isReadOnly = command.readOnly || configuration.isReadOnly
        var allowsOther = command.allowOther
        var hasExtendedAttributes = false
        var grace = configuration.grace
        var directory = command.state.directory
        var extra: [String] = []
        for option in command.options.flatMap({ $0.split(separator: ",").map(String.init) }) {
            let value = option.split(separator: "=", maxSplits: 1).dropFirst().first.map(
                String.init)
            switch option.prefix(while: { $0 != "=" }) {
            case "ro": isReadOnly = true
            case "allow_other": allowsOther = true
            case "xattr": hasExtendedAttributes = true
            case "noxattr": hasExtendedAttributes = false
            case "state": directory = Places.absolute(value ?? directory)
            case "grace":
                guard let seconds = value.flatMap(Double.init), (0...3600).contains(seconds) else {
                    throw CommandFailure(
                        option, "grace is a number of seconds, 0 to 3600.",
                        status: ExitStatus.usage)
                }
                grace = .milliseconds(Int64(seconds * 1000))
            case let name where Self.ignored.contains(String(name)): break
            case let name where name.hasPrefix("x-") || name.hasPrefix("comment"): break
            default: extra.append(option)
            }
        }
        self.isReadOnly = isReadOnly
        self.allowsOther = allowsOther
        self.hasExtendedAttributes = hasExtendedAttributes
        self.grace = grace
        self.directory = directory
        extraOptions = extra
        threads = max(1, command.threads)
        let place = command.mountpoint ?? configuration.mountpoint ?? Places.defaultMountpoint
        mountpoint = Places.absolute(place)
    }

    /// Heals a stale mount there, refuses a living one, and makes the directory.
    func prepareMountpoint() throws(CommandFailure) {
        try reporting(mountpoint) { () throws(RecordError) in
            if MountTable.isStale(mountpoint) {
                try MountDaemon.unmount(mountpoint: mountpoint, lazy: true)
            }
            if MountTable.recordMounts().contains(where: { $0.mountpoint == mountpoint }) {
                throw RecordError(
                    .alreadyExists, "is mounted already. recordfs unmount ends that mount.")
            }
            try Places.makeDirectory(mountpoint)
            guard try Places.isEmpty(mountpoint) else {
                throw RecordError(
                    .notEmpty, "has files, which a mount would hide. Choose another directory.")
            }
        }
    }

    /// The arguments of a process that serves this mount.
    func arguments(readyDescriptor: Int32) -> [String] {
        var arguments = [
            "mount", "--foreground", "--ready-descriptor", "\(readyDescriptor)",
            "--state", directory, "--threads", "\(threads)",
            "-o", "grace=\(Double(grace / .milliseconds(1)) / 1000)",
        ]
        if isReadOnly { arguments.append("--read-only") }
        if allowsOther { arguments.append("--allow-other") }
        if hasExtendedAttributes { arguments += ["-o", "xattr"] }
        for option in extraOptions { arguments += ["-o", option] }
        return arguments + ["--", mountpoint]
    }
}
