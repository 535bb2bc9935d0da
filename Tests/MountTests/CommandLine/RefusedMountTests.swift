import TestSupport
import Testing

extension MountTests {
    /// What the system does not let a user mount.
    @Suite struct RefusedMountTests {
        @Test("who may not mount at a directory is told why by what knows it, and nothing stays")
        func directory() throws {
            let users = try OtherUsers()
            let carol = CommandLineHome(of: try users.add("carol", id: 60_003, umask: "022"))
            let place = "\(OtherUsers.home)/bin"
            let locked = try carol.shell("recordfs mount -o nonempty \(place)")
            #expect(locked.status == 1)
            let lines = locked.errors.split(separator: "\n")
            #expect(lines.first?.contains("could not mount at \(place)") == true)
            #expect(
                lines.dropFirst().contains {
                    $0.hasPrefix("fusermount3: ") && $0.contains("access")
                },
                "\(locked)")
            try carol.ok("recordfs mount && recordfs unmount")
        }
    }
}
