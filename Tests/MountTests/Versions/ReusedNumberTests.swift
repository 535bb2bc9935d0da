import Glibc
import TestSupport
import Testing

extension MountTests {
    /// What comes under the name of a thing that somebody still holds is another thing: nobody meets the
    /// other one's node, as on a disk.
    @Suite struct ReusedNumberTests {
        /// A directory that somebody stands in, below the folder of a database.
        struct Thing: CustomStringConvertible, Sendable {
            let description: String
            let path: String
            /// A file in it, and another one that is made later.
            let files: (String, String)
            /// `mv` copies and deletes it, so that who stands in it does not go along.
            var isCopied = false
        }

        static let things = [
            Thing(
                description: "zone", path: "Q", files: ("T/a.json", "T/b.json"), isCopied: true),
            Thing(
                description: "type", path: "Q/T", files: ("a.json", "b.json"), isCopied: true),
            Thing(description: "scratch of a type", path: "Q/T/.s", files: ("a", "b")),
            Thing(description: "scratch of a zone", path: "Q/.s", files: ("a", "b")),
            Thing(description: "scratch in scratch", path: "Q/T/.s/d", files: ("a", "b")),
        ]

        /// What is done to `$D`, whose content `make` makes.
        static let actions = [
            ("removed and made again", "rm -rf $D; make $D"),
            ("removed and made again, three times", "for n in 1 2 3; do rm -rf $D; make $D; done"),
            ("renamed away and back", "mv $D ${D}x; mv ${D}x $D"),
            ("removed, and another renamed to its name", "make ${D}x; rm -rf $D; mv ${D}x $D"),
            ("renamed away, and made again", "mv $D ${D}x; make $D"),
        ]

        @Test(
            "a directory that comes under the name of one in which somebody stands is as on a disk")
        func directories() throws {
            let mounted = try MountedStore()
            for thing in Self.things {
                for (name, action) in Self.actions {
                    let seesInside = !(thing.isCopied && action.contains("mv $D"))
                    let script = script(thing, action, seesInside: seesInside)
                    let onDisk = "\(mounted.outside)/disk"
                    try succeed("bash", "-c", "rm -rf \(onDisk); mkdir \(onDisk)")
                    let expected = try run("bash", "-c", script, directory: onDisk)
                    let shown = try run(
                        "bash", "-c", script, directory: "\(mounted.mountPoint)/local")
                    #expect(expected.errors == "", "\(expected)")
                    #expect(
                        shown.output == expected.output && shown.errors == "",
                        "\(thing) \(name): \(shown) instead of \(expected)")
                    try succeed("bash", "-c", "rm -rf \(mounted.mountPoint)/local/*")
                }
            }
            try mounted.remount()
        }

        private func script(_ thing: Thing, _ action: String, seesInside: Bool) -> String {
            let (first, second) = thing.files
            return """
                make() { mkdir -p $1/$(dirname \(first)); echo '{"n": 1}' > $1/\(first); }
                D=\(thing.path)
                make $D
                (cd $D && exec sleep 1000) & inside=$!
                trap 'kill $inside' EXIT
                until [ "$(readlink /proc/$inside/cwd)" = "$PWD/$D" ]; do :; done
                \(action)
                echo 'by its name:'; ls $D; cat $D/\(first)
                echo '{"n": 2}' > $D/\(second); cat $D/\(second); rm $D/\(first); ls $D
                if \(seesInside); then
                    echo inside:; ls /proc/$inside/cwd/
                    (echo '{"n": 3}' > /proc/$inside/cwd/c.json) 2> /dev/null; echo $?
                fi
                """
        }

        /// What is done to r.json and its like while a descriptor has it open.
        static let replacements = [
            ("removed and made again", "rm $F; echo '{\"n\": 2}' > $F"),
            ("replaced by a rename", "echo '{\"n\": 2}' > x; mv x $F"),
            ("renamed away, and made again", "mv $F old; echo '{\"n\": 2}' > $F"),
            (
                "replaced 5 000 times",
                "for n in {1..5000}; do echo '{\"n\": 2}' > x; \\mv x $F; done"
            ),
        ]

        @Test("a file that comes under the name of one that is open is as on a disk")
        func files() throws {
            let mounted = try MountedStore()
            let notes = try mounted.makeType("local/Q/T")
            for file in ["r.json", "r@blob.bin", "scratch"] {
                for (name, action) in Self.replacements {
                    let count = file == "r@blob.bin" ? "200" : "5000"
                    let script = """
                        set -e
                        F=\(file)
                        [ $F = r@blob.bin ] && echo '{"m": 1}' > r.json
                        echo '{"n": 1}' > $F
                        exec 7< $F
                        \(action.replacing("5000", with: count))
                        cat <&7; cat $F; exec 7<&-; rm -f $F old r.json
                        """
                    let shown = try run("bash", "-c", script, directory: notes)
                    #expect(
                        shown.output == "{\"n\": 1}\n{\"n\": 2}\n" && shown.errors == "",
                        "\(file) \(name): \(shown)")
                }
            }
            try mounted.unmount()
        }
    }
}
