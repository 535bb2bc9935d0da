/// The program as `mount.recordfs`, which mount(8) calls for lines of fstab.
enum MountHelper {
    /// Returns `mount.recordfs DEVICE DIRECTORY [-sfnv] [-o OPTIONS]` as arguments of `recordfs
    /// mount`. Other calls are unchanged, without the program's name.
    ///
    /// The device is the state directory; `recordfs` and `none` are the default one.
    /// Errors: the device is neither of them, nor an absolute path. The directory in which mount(8)
    /// runs is unknown.
    static func translate(_ line: [String]) throws(CommandFailure) -> [String] {
        let program = line.first?.split(separator: "/").last ?? ""
        guard program == "mount.recordfs" else { return Array(line.dropFirst()) }
        var places: [String] = []
        var result = ["mount"]
        var rest = line.dropFirst()
        while let word = rest.popFirst() {
            if word == "-o" || word == "-t" || word == "-N" {
                let value = rest.popFirst()
                if word == "-o", let value {
                    for option in value.split(separator: ",") where option.hasPrefix("state=") {
                        try check(option.dropFirst("state=".count))
                    }
                    result += ["-o", value]
                }
            } else if word == "--help" || word == "--version" {
                result = [word]
            } else if !word.hasPrefix("-") {
                places.append(word)
            }
        }
        if let device = places.first, !["recordfs", "none"].contains(device) {
            try check(device[...])
            result += ["--state", device]
        }
        if places.count > 1 { result += ["--", places[1]] }
        return result
    }

    private static func check(_ state: Substring) throws(CommandFailure) {
        guard !state.hasPrefix("/") else { return }
        throw CommandFailure(
            state.isEmpty ? nil : String(state),
            "the state directory of a store is an absolute path; recordfs or none means the "
                + "default store.", status: ExitStatus.usage)
    }
}
