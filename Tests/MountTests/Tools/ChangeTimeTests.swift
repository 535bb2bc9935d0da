import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Backups and indexes that know a change by ctime alone, for the content has kept its size and its
    /// time.
    @Suite struct ChangeTimeTests {
        /// The tools that date back, each a change of `$f` by bytes of the same size.
        static let changes = [
            "cp -p $f ../old; echo \"$new\" > $f; touch -r ../old $f",
            "echo \"$new\" > ../new; touch -r $f ../new; cp -p ../new $f",
            "echo \"$new\" > ../new; touch -r $f ../new; rsync -t --inplace -I ../new ./$f",
            "echo \"$new\" > ../new; touch -r $f ../new; rsync -t -I ../new ./$f",
            "echo \"$new\" > x; touch -r $f x; mv x $f",
        ]

        static let files = ["r.json", "r@photo.jpg", "scratch"]

        private func prepare(_ mounted: MountedStore) throws -> String {
            let notes = try mounted.makeType("private/Box/Note")
            try succeed(
                "bash", "-ec",
                """
                echo '{"n": 1}' > r.json; echo '{"n": 1}' > other.json
                echo '{"n": 1}' > r@photo.jpg; echo '{"n": 1}' > scratch; mkdir ../../Y
                touch -d '2001-02-03 04:05:06.789' r.json r@photo.jpg scratch
                """, directory: notes)
            return notes
        }

        /// r.json names its large field, so that its text is made of what stands there.
        private func script(_ file: String, _ change: String, _ number: Int) -> String {
            """
            f=\(file); new=$(sed 's/"n": *[0-9]*/"n": \(number)/' $f)
            \(change)
            """
        }

        @Test("tar -g, find and git see what a tool has changed and dated back, and nothing else")
        func datedBack() throws {
            let mounted = try MountedStore()
            let notes = try prepare(mounted)
            let folder = mounted.outside
            var number = 1
            for file in Self.files {
                for change in Self.changes {
                    number = number % 9 + 1
                    let script = """
                        tar -c -g \(folder)/snapshot -f \(folder)/0.tar . 2> /dev/null
                        touch ../../mark
                        before=$(stat -c '%s %Y' \(file))
                        \(script(file, change, number))
                        [ "$before" = "$(stat -c '%s %Y' \(file))" ] || echo "other size or time"
                        find . -type f -cnewer ../../mark | sort
                        tar -c -g \(folder)/snapshot -f \(folder)/1.tar .
                        tar -t -f \(folder)/1.tar | grep -v '/$' | sort
                        """
                    let shown = try run(
                        "bash", "-c",
                        script.replacing("../../mark", with: "\(folder)/mark")
                            .replacing("../old", with: "\(folder)/old")
                            .replacing("../new", with: "\(folder)/new"), directory: notes)
                    // The text of r.json has the checksum of its large field.
                    let seen = (file == "r@photo.jpg" ? "./r.json\n" : "") + "./\(file)\n"
                    #expect(
                        shown.output == seen + seen && shown.errors == "",
                        "\(file): \(change): \(shown)")
                }
            }
            try expectSeenByGit(notes, folder)
            let times = try succeed(
                "stat", "-c", "%n %z", ".", "r.json", "r@photo.jpg",
                directory: notes)
            try mounted.remount()
            #expect(
                try succeed("stat", "-c", "%n %z", ".", "r.json", "r@photo.jpg", directory: notes)
                    == times)
        }

        /// Of a ctime git compares the seconds.
        private func expectSeenByGit(_ notes: String, _ folder: String) throws {
            let shown = try succeed(
                "bash", "-ec",
                """
                git="git --git-dir \(folder)/git --work-tree ."
                git init -q --bare \(folder)/git; $git add . 2> /dev/null
                second=$(date +%s); until [ $(date +%s) != $second ]; do :; done
                $git diff --name-only
                for f in \(Self.files.joined(separator: " ")); do
                    cp -p $f \(folder)/old; new=$(sed 's/"n": *[0-9]*/"n": 0/' $f)
                    echo "$new" > $f; touch -r \(folder)/old $f
                done
                $git diff --name-only
                """, directory: notes)
            #expect(shown == "r.json\nr@photo.jpg\nscratch\n")
        }
    }
}
