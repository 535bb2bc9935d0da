/// The options of a mount of a file system.
package struct MountOptions: Hashable, Sendable {
    /// The device that `df` and `mount` show.
    package var source: String
    /// The type is shown as `fuse.SUBTYPE`.
    package var subtype: String
    /// Indicates whether users other than the mounting one may use the mount. Ordinary users need
    /// `user_allow_other` in /etc/fuse.conf for it.
    package var allowOther = false
    package var isReadOnly = false
    /// Indicates whether the kernel checks the permission bits before it asks. Otherwise only the
    /// file system checks them.
    package var checksPermissions = true
    /// Indicates whether the directory may contain files, which the mount then hides.
    package var hidesFiles = false
    /// Further options for `-o`, such as `noatime` or `context=...`.
    package var extra: [String] = []

    package init(source: String, subtype: String) {
        self.source = source
        self.subtype = subtype
    }

    /// The argument for `-o`. libfuse needs an escape before commas and backslashes in values.
    var argument: String {
        var words = ["fsname=" + Self.escaped(source), "subtype=" + Self.escaped(subtype)]
        if allowOther { words.append("allow_other") }
        if isReadOnly { words.append("ro") }
        if checksPermissions { words.append("default_permissions") }
        return (words + extra).joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value {
            if character == "," || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }
}
