import RecordMount

/// The `-o` options of a mount.
struct MountOptionList {
    private(set) var isReadOnly = false
    private var allowsOther = false
    private var hasExtendedAttributes = false
    private var hidesFiles = false
    private var grace: Duration?
    private var cacheBytes: Int64?
    /// The options that the kernel knows, of which the last of two that exclude each other counts.
    private var kernel: Set<String> = []
    /// The options that are passed to libfuse unchanged.
    private var extra: [String] = []

    /// Reads the options. Errors: an option that is not supported, or has a wrong value.
    ///
    /// - Parameter lists: options that are separated by commas.
    init(_ lists: [String]) throws(CommandFailure) {
        for word in Self.words(lists) { try read(word) }
    }

    private static func words(_ lists: [String]) -> [String] {
        lists.flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// Puts the options into a configuration. They take precedence over its values.
    func apply(to mount: inout MountConfiguration) {
        if allowsOther { mount.allowOther = true }
        if hidesFiles { mount.hidesFiles = true }
        mount.extendedAttributes = hasExtendedAttributes
        if let grace { mount.grace = grace }
        if let cacheBytes { mount.cacheBytes = cacheBytes }
        mount.options = kernel.sorted() + extra
    }

    /// Returns the state directory that `-o state=DIR` names, for fstab. The last one is used.
    static func state(in lists: [String]) throws(CommandFailure) -> String? {
        let option = words(lists).last { $0 == "state" || $0.hasPrefix("state=") }
        guard let option else { return nil }
        guard let value = option.split(separator: "=", maxSplits: 1).dropFirst().first else {
            throw CommandFailure(
                option, "state needs the name of a directory.", status: ExitStatus.usage)
        }
        return HostPaths.absolute(String(value))
    }

    private mutating func read(_ option: String) throws(CommandFailure) {
        let value = option.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
        switch option.prefix(while: { $0 != "=" }) {
        // When two options exclude each other, the last one is used, as in mount(8).
        case "ro": isReadOnly = true
        case "rw": isReadOnly = false
        case "noexec", "noatime": kernel.insert(option)
        case "exec": kernel.remove("noexec")
        case "atime", "relatime": kernel.remove("noatime")
        case "max_read" where value == "0": break
        case "allow_other": allowsOther = true
        case "xattr": hasExtendedAttributes = true
        case "noxattr": hasExtendedAttributes = false
        case "nonempty": hidesFiles = true
        case "state": break
        case "grace":
            guard let seconds = value.flatMap(Double.init), (0...3600).contains(seconds) else {
                throw CommandFailure(
                    option, "grace is a number of seconds, 0 to 3600.",
                    status: ExitStatus.usage)
            }
            grace = .milliseconds(Int64(seconds * 1000))
        case "cache":
            guard let bytes = value.flatMap(ByteCount.parse) else {
                throw CommandFailure(
                    option, "cache is \(ByteCount.rule).", status: ExitStatus.usage)
            }
            cacheBytes = bytes
        case let name where Self.ignored.contains(String(name)): break
        case let name where name.hasPrefix("x-") || name.hasPrefix("comment"): break
        case let name:
            if let reason = Self.refusal(of: String(name)) {
                throw CommandFailure(option, reason, status: ExitStatus.usage)
            }
            extra.append(option)
        }
    }

    /// Options that are not for the file system, or that change nothing.
    private static let ignored: Set<String> = [
        "defaults", "auto", "noauto", "nofail", "user", "users", "nouser", "_netdev", "nodev",
        "nosuid",
    ]

    /// Returns the reason when fuse knows the option but RecordFS does not support it.
    private static func refusal(of option: String) -> String? {
        switch option {
        case "fsname", "subtype": "this is how commands find the store of a mount. Leave it out."
        case "auto_unmount":
            "a mount ends with its process, and recordfs mount repairs the mount of a process "
                + "that was killed. Leave it out."
        case "suid", "dev":
            "set-user-ID programs and devices never have an effect on a mount. Leave it out."
        case "max_read": "the size of reads is agreed on with the kernel. Leave it out."
        default: nil
        }
    }
}
