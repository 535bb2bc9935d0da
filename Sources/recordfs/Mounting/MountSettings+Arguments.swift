import RecordDaemon
import RecordModel
import RecordMount

extension MountSettings {
    /// Returns the arguments of a process that serves this mount.
    func arguments(readyDescriptor: Int32) -> [String] {
        var arguments = [
            "mount", "--foreground", "--ready-descriptor", "\(readyDescriptor)",
            "--state", directory, "--threads", "\(mount.threads)",
            "-o", "grace=\(Double(mount.grace / .milliseconds(1)) / 1000)",
        ]
        if let cacheBytes = mount.cacheBytes { arguments += ["-o", "cache=\(cacheBytes)"] }
        if let author = mount.author { arguments += ["--author", author.text] }
        if mount.readOnly { arguments.append("--read-only") }
        if mount.allowOther { arguments.append("--allow-other") }
        if mount.extendedAttributes { arguments += ["-o", "xattr"] }
        if mount.hidesFiles { arguments += ["-o", "nonempty"] }
        for option in mount.options { arguments += ["-o", option] }
        return arguments + ["--", mountpoint]
    }
}
