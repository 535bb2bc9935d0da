/// How a file system is mounted.
package struct MountOptions: Hashable, Sendable {
    /// What `df` and `mount` show as the device.
    package var source: String
    /// The type is shown as `fuse.SUBTYPE`.
    package var subtype: String
    /// Other users than the one who mounts may enter; ordinary users need `user_allow_other` in
    /// /etc/fuse.conf for it.
    package var allowOther = false
    package var isReadOnly = false
    /// The kernel checks the permission bits before it asks; without it only the file system does.
    package var checksPermissions = true
    /// The directory may have files, which the mount then hides.
    package var hidesFiles = false
    /// Further options for `-o`, such as `noatime` or `context=...`.
    package var extra: [String] = []

    package init(source: String, subtype: String) {
        self.source = source
        self.subtype = subtype
    }

    /// One argument for `-o`; libfuse wants commas and backslashes in values escaped.
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
